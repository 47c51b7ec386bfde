"""BIG-Bench Hard: 6,511 problems of 27 tasks, with worked examples (arXiv 2210.09261).

Three worked examples of the task come first, the authors' own; ``--num-fewshot 0`` asks without
them. Gold answers take many forms (a letter in brackets, yes or no, a number, brackets, a list of
words); an answer is read and compared in the form of the gold one, whichever way the response
states it. The authors compare what follows "answer is" as text (``rule=official``).
"""

from __future__ import annotations

from typing import Any, Final, Literal

from nel.benchmarks.reasoning.bbh_answers import read_answer, same_answer
from nel.benchmarks.reasoning.bbh_tasks import TASKS
from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.own import own_answer
from nel.reading.types import OFFICIAL_RULE, Form, Reading, Value

REVISION = "982bb89fd79532a8ac676a61fc42eb1aeec63f99"
PROMPT = """Q: {input}
A: Let's think step by step."""


_MARK: Final = "answer is "


def read_official(sample: ScorerInput) -> Reading:
    """Return what follows the last "answer is " without a full stop, else the entire response.

    The verdicts on the authors' recorded outputs follow this rule.
    """
    _, _, tail = sample.response.rpartition(_MARK)
    text = tail.strip().removesuffix(".")
    if not text:
        return Reading()
    # Not before the tail, which may repeat words that stand earlier.
    start = sample.response.index(text, len(sample.response) - len(tail))
    return Reading().take(Value(text, start, start + len(text)), Form.OFFICIAL)


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
@scorer(in_process=True)
def bbh(
    sample: ScorerInput, *, rule: Literal["general", "official"] = "general"
) -> dict[str, object]:
    """Compare the declared answer with the gold one, up to where the model asks itself the next.

    The general rule is the default, since chat models do not end in the sentence of the examples.
    """
    if rule == OFFICIAL_RULE:
        text = read_official(sample).value
        return {
            "correct": text is not None and text == str(sample.target),
            "parsed": text is not None,
            "extracted": text,
        }
    response, ran_on = own_answer(sample)
    gold = str(sample.target)
    answer = read_answer(response, gold, str(sample.metadata.get("input", "")))
    correct = answer is not None and same_answer(answer, gold)
    return {"correct": correct, "parsed": answer is not None, "extracted": answer, **ran_on}
