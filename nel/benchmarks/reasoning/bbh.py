"""BIG-Bench Hard: 6,511 problems of 27 tasks, with worked examples (Suzgun et al. 2022, arXiv
2210.09261).

Three worked examples of the task come first, the authors' own; ``--num-fewshot 0`` asks without
them. Gold answers take many forms (a letter in brackets, yes or no, a number, brackets, a list of
words); an answer is read and compared in the form of the gold one, whichever way the response
states it. The official script compares what follows "the answer is" as text.
"""

from __future__ import annotations

from typing import Any

from nel.benchmarks.reasoning.bbh_answers import read_answer, same_answer
from nel.benchmarks.reasoning.bbh_tasks import TASKS
from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.own import own_answer

REVISION = "982bb89fd79532a8ac676a61fc42eb1aeec63f99"
PROMPT = """Q: {input}
A: Let's think step by step."""


def with_task(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with its ``task`` and ``about``, what the authors tell a model of it.

    Raises:
        KeyError: A field is missing, or the task is none of the 27.
    """
    task = row.get("task") or row["config"]
    return {**row, "task": task, "about": TASKS[task]}


@benchmark(
    name="bbh",
    description=(
        "BIG-Bench Hard, 6,511 problems of 27 tasks, with the authors' chains of thought as"
        " examples"
    ),
    dataset=f"hf://lukaemon/bbh?configs={','.join(TASKS)}&split=test&revision={REVISION}",
    prompt=PROMPT,
    preamble='{about}\nEnd with a sentence of the form "So the answer is X."\n\n',
    target_field="target",
    target_delimiter="\n",
    category_field="task",
    prepare_row=with_task,
    num_fewshot=3,
    fewshot_dataset="pkg://nel/benchmarks/data/bbh_examples.jsonl",
    fewshot_match_field="task",
    card=Card(
        paper=(
            "Challenging BIG-Bench Tasks and Whether Chain-of-Thought Can Solve Them, arXiv"
            " 2210.09261"
        ),
        licence="MIT",
        citation="Suzgun et al., Findings of ACL 2023",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/lukaemon/bbh",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer
def bbh(sample: ScorerInput) -> dict[str, object]:
    """Compare the declared answer with the gold one; where the model goes on with the next
    question, up to there.
    """
    response, ran_on = own_answer(sample)
    gold = str(sample.target)
    answer = read_answer(response, gold, str(sample.metadata.get("input", "")))
    correct = answer is not None and same_answer(answer, gold)
    return {"correct": correct, "parsed": answer is not None, "extracted": answer, **ran_on}
