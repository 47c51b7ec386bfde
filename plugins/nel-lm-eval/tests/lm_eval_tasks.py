"""Small tasks of lm_eval on rows of their own, written into a folder."""

from __future__ import annotations

import json
from pathlib import Path

QUESTIONS = [
    {"question": f"What is {n} plus {n}?", "answer": str(2 * n), "topic": "even"}
    for n in range(1, 8)
]
SHAPES = [
    {
        "question": "How many sides has a square?",
        "options": ["four", "five", "a hundred and twenty"],
        "gold": 0,
    },
    {"question": "Was ist das: 🙂 {x}?", "options": ["ein Gesicht", "東京"], "gold": 0},
    {"question": "What is round?", "options": ["a cube", "a ball", "a brick"], "gold": 1},
]
BLANKS = [
    {
        "sentence": "The cup fell because _ was at the edge .",
        "option1": "it",
        "option2": "the table",
        "answer": "1",
    },
    {
        "sentence": "Ann thanked Eva, since _ had helped.",
        "option1": "Ann",
        "option2": "Eva",
        "answer": "2",
    },
]
COMMON = """
task: NAME
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/NAME.jsonl, train: FOLDER/NAME_train.jsonl}}
test_split: test
"""
SUMS = r"""
training_split: train
fewshot_split: train
num_fewshot: 2
output_type: generate_until
doc_to_text: "Question: {{question}}\nAnswer:"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["Question:"], do_sample: false, temperature: 0.0, max_gen_toks: 40}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
filter_list:
  - {name: strict-match, filter: [{function: regex, regex_pattern: '#### (\-?[0-9\.\,]+)'}, {function: take_first}]}
  - name: flexible-extract
    filter:
      - {function: regex, group_select: -1, regex_pattern: '(-?[$0-9.,]{2,})|(-?[0-9]+)'}
      - {function: take_first}
"""
SHAPE_TASK = """
output_type: multiple_choice
num_fewshot: 0
description: "Answer {{question[:3]}}.\\n\\n"
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_choice: "{{options}}"
doc_to_target: gold
metric_list:
  - {metric: acc}
  - {metric: acc_norm}
"""
BLANK_TASK = """
output_type: multiple_choice
num_fewshot: 0
doc_to_text: "{{ {'1': 0, '2': 1}[answer] }}"
doc_to_target: "{{sentence.split('_')[1].strip()}}"
doc_to_choice: "{{[sentence.split('_')[0] + option1, sentence.split('_')[0] + option2]}}"
metric_list: [{metric: acc}]
"""
LAST_WORD = """
output_type: loglikelihood
num_fewshot: 0
doc_to_text: "{{question}}"
doc_to_target: " {{answer}}"
metric_list: [{metric: perplexity, aggregation: perplexity, higher_is_better: false}, {metric: acc}]
"""
TRANSLATION = """
output_type: generate_until
num_fewshot: 0
doc_to_text: "{{question}}"
doc_to_target: "So that is {{answer}} in all."
generation_kwargs: {until: ["Question:"], do_sample: false, temperature: 0.0, max_gen_toks: 40}
metric_list: [{metric: bleu}, {metric: chrf}, {metric: ter}]
"""
ALARMS = """
process_results: !function alarms.process_results
output_type: generate_until
num_fewshot: 0
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
metric_list: [{metric: exact_match}]
"""
ALARM_CODE = """
import signal

def process_results(doc, results):
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.alarm(5)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    return {"exact_match": float(doc["answer"] in results[0])}
"""
"""A function that sets an alarm, as those of the harness' tasks of mathematics do."""
GROUP = """
group: all_sums
group_alias: all sums
task:
  - sums
  - group: nested
    group_alias: within
    task: [{task: sums_of_two, num_fewshot: 1}, sums_of_three]
    aggregate_metric_list: [{metric: exact_match, filter_list: strict-match, weight_by_size: false}]
  - translations
aggregate_metric_list:
  - {metric: exact_match}
  - {metric: bleu}
"""
"""A group of a task, of a group in it whose first task has other settings, and of a task with other metrics."""
TASKS = {
    "sums": (SUMS, QUESTIONS),
    "shapes": (SHAPE_TASK, SHAPES),
    "blanks": (BLANK_TASK, BLANKS),
    "last_word": (LAST_WORD, QUESTIONS),
    "rolling": (
        "output_type: loglikelihood_rolling\ndoc_to_text: ''\ndoc_to_target: '{{question}}'\n",
        QUESTIONS,
    ),
    "thrice": (SUMS + "repeats: 3\n", QUESTIONS),
    "programs": (SUMS + "unsafe_code: true\n", QUESTIONS),
    "corpus": (
        SUMS.replace("exact_match", "bleu").replace("aggregation: mean", "aggregation: bleu"),
        QUESTIONS,
    ),
    "errors": (SUMS.replace("higher_is_better: true", "higher_is_better: false"), QUESTIONS),
    "bias": (SHAPE_TASK.replace("metric: acc}", "metric: acc, higher_is_better: false}"), SHAPES),
    "alarms": (ALARMS, QUESTIONS),
    "translations": (TRANSLATION, QUESTIONS[:5]),
    "sums_of_two": (SUMS, QUESTIONS[:2]),
    "sums_of_three": (SUMS, QUESTIONS[2:5]),
    "bare": (LAST_WORD.replace("{{question}}", ""), QUESTIONS),
}


def write_group(folder: Path, *more: str) -> Path:
    """Write the files of `GROUP` and its tasks, with further members of it, and return the folder."""
    write_tasks(folder, "sums", "sums_of_two", "sums_of_three", "translations", *more)
    text = GROUP.lstrip().replace(
        "  - translations\n", "".join(f"  - {name}\n" for name in ("translations", *more))
    )
    (folder / "all_sums.yaml").write_text(text, encoding="utf-8")
    return folder


def write_tasks(folder: Path, *names: str) -> Path:
    """Write the files of some tasks and their rows, and return the folder."""
    (folder / "alarms.py").write_text(ALARM_CODE, encoding="utf-8")
    for name in names:
        text, rows = TASKS[name]
        common = COMMON.replace("NAME", name).replace("FOLDER", str(folder))
        (folder / f"{name}.yaml").write_text(common.lstrip() + text.lstrip("\n"), encoding="utf-8")
        for suffix, part in (("", rows), ("_train", rows[:4])):
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part)
            (folder / f"{name}{suffix}.jsonl").write_text(lines, encoding="utf-8")
    return folder
