"""Rows for the published groups of lm_eval: a folder of each data set's name, which the harness reads in place of the hub,
and a scripted model that answers them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.support.endpoint import Call, Reply
from tests.support.letters import letters

LETTERS = "ABCD"
WORDS = ("red", "green", "blue", "grey")


def chosen(text: str, n: int = 4) -> int:
    """Return a number below n that depends on a text alone."""
    return zlib.crc32(text.encode()) % n


def reply(prompt: str) -> str:
    """Return an answer in one of the forms that the tasks read, right for some of the rows."""
    option = LETTERS[chosen(prompt)]
    return (
        f"So the answer is ({option}).",
        f"the answer is {option}",
        f"the word is {WORDS[chosen(prompt)]} and the hat is old",
        f"Final Answer: The final answer is ${chosen(prompt, 3)}$. I hope it is correct.",
    )[chosen(f"form {prompt}")]  # fmt: skip


def published(call: Call, number: int) -> Reply:
    """Answer a completion with echo as `letters` does, any other with `reply`."""
    if call.body.get("echo"):
        return letters(call, number)
    asked = call.body["prompt"]
    texts = [reply(text) for text in (asked if isinstance(asked, list) else [asked])]
    choices = [
        {"index": index, "text": text, "finish_reason": "stop"} for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    return Reply(body={"model": "letters", "choices": choices, "usage": usage})


def row(path: str, name: str, number: int) -> dict[str, Any]:
    """Return a row in the columns of a data set.

    Args:
        path: Of the data set.
        name: Of its configuration.
        number: Of the row.
    """
    question = f"Question {number} of {name or path}?"
    gold = chosen(question)
    options = [f"{word} {'hat' * (place + 1)}" for place, word in enumerate(WORDS)]
    match path:
        case "cais/mmlu":
            return {"question": question, "subject": name, "choices": options, "answer": gold}
        case "nyu-mll/blimp":
            return {
                "sentence_good": f"The {name} {number} sees.",
                "sentence_bad": f"The {name} {number} see.",
            }
        case "SaylorTwift/bbh":
            fixed = {
                "boolean_expressions": "True",
                "word_sorting": "blue red",
                "object_counting": "2",
            }
            return {
                "input": question,
                "target": fixed.get(name, "No" if name in YES_OR_NO else f"({LETTERS[gold]})"),
            }
        case "allenai/ai2_arc":
            choices = {"text": options, "label": list(LETTERS)}
            return {
                "id": f"{name}-{number}",
                "question": question,
                "choices": choices,
                "answerKey": LETTERS[gold],
            }
        case "wmt/wmt16":
            words = f"the word is {WORDS[gold]} and the hat is {number}"
            return {
                "translation": {language: f"{language}: {words}" for language in name.split("-")}
            }
        case "TIGER-Lab/MMLU-Pro":
            return {
                "question": question,
                "options": options,
                "answer": LETTERS[gold],
                "answer_index": gold,
            }
        case "Idavidrein/gpqa":
            wrong = {f"Incorrect Answer {place}": options[place] for place in (1, 2, 3)}
            return {"Question": question, "Correct Answer": options[0], **wrong}
        case "TAUR-Lab/MuSR":
            texts = {"choices": str(options), "answer_choice": options[gold]}
            return {
                "narrative": f"A story {number}.",
                "question": question,
                **texts,
                "answer_index": gold,
            }
        case "DigitalLearningGmbH/MATH-lighteval":
            level = f"Level {5 - number % 2}"
            return {
                "problem": question,
                "level": level,
                "type": name,
                "solution": f"It is $\\boxed{{{gold}}}$.",
            }
        case _:
            instructions = {"instruction_id_list": ["punctuation:no_comma", "keywords:existence"]}
            kwargs = [{"keywords": None}, {"keywords": ["hat"]}]
            return {"key": number, "prompt": question, **instructions, "kwargs": kwargs}


YES_OR_NO = {
    "causal_judgement",
    "navigate",
    "web_of_lies",
    "sports_understanding",
    "formal_fallacies",
}


def write_hub(folder: Path, tasks: Iterable[dict[str, Any]]) -> None:
    """Write the data sets that tasks read, in the layout of the hub, with 2 to 5 rows of each split, and 5 more for examples.

    Args:
        folder: Where the names of data sets are looked for first.
        tasks: Their files.
    """
    cards: dict[str, dict[str, set[str]]] = {}
    for task in tasks:
        splits = {
            task[key]
            for key in ("test_split", "validation_split", "training_split")
            if task.get(key)
        }
        splits |= {task["fewshot_split"]} if task.get("fewshot_split") else set()
        cards.setdefault(task["dataset_path"], {}).setdefault(
            task.get("dataset_name") or "", set()
        ).update(splits)
    for path, configurations in cards.items():
        lines = ["---", "configs:"]
        for name, splits in configurations.items():
            lines += [f"- config_name: {name or 'default'}", "  data_files:"]
            for split in sorted(splits):
                file = folder / path / name / f"{split}.jsonl"
                file.parent.mkdir(parents=True, exist_ok=True)
                lines += [f"  - split: {split}", f"    path: {file.relative_to(folder / path)}"]
                n = 2 + chosen(f"{name}{split}") + 5 * (split == "validation")
                rows = (row(path, name, number) for number in range(n))
                file.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
        (folder / path / "README.md").write_text("\n".join([*lines, "---", ""]), encoding="utf-8")


def files_of(manager: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yield the files of all tasks of a group or a tag of the harness."""
    from lm_eval.tasks._yaml_loader import load_yaml  # noqa: PLC0415 - the fixture skips where it is not there

    entry = manager.task_index[name]
    if entry.kind.name == "TAG":
        for task in sorted(entry.tags):
            yield from files_of(manager, task)
        return
    file = load_yaml(entry.yaml_path, resolve_func=False, recursive=True)
    if entry.kind.name != "GROUP":
        yield file
        return
    for task in file["task"]:
        yield from files_of(manager, task)
