"""GPQA Diamond: 198 graduate-level questions with four choices (arXiv 2311.12022).

The data lists the correct answer first, so the choices are shuffled, by a seed and the question's
own id: a question looks the same whatever the limit and the order of the rows. The authors ask not
to republish the questions.
"""

from __future__ import annotations

import random
from typing import Any, Final

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.datasets import content_id
from nel.scoring import mcq_letter_extract

REVISION = "5233cd1db58884ed0bf678c7c6be731722a23f84"
SEED: Final = 42
_DISTRACTORS: Final = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
PROMPT = """Answer this multiple-choice question. Think step by step, then finish with a line of the form "Answer: X", \
where X is one of {letters}.

{question}

{choices}"""


def with_shuffled_choices(row: dict[str, object]) -> dict[str, object]:
    """Return the row with ``question``, ``choices`` in an order that its id decides, and
    ``answer``, the gold index.

    Raises:
        KeyError: A field is missing.
    """
    columns = ("Correct Answer", *_DISTRACTORS)
    choices = [str(row[column]).strip() for column in columns]
    # The positions of the columns in the order shown; the correct one is at 0 among them.
    order = list(range(len(choices)))
    random.Random(f"{SEED}:{row.get('Record ID') or content_id(row)}").shuffle(order)  # noqa: S311 - no secret
    return {
        **row,
        "question": str(row["Question"]).strip(),
        "choices": [choices[position] for position in order],
        "answer": order.index(0),
        "domain": row.get("High-level domain"),
    }


@benchmark(
    name="gpqa_diamond",
    description=(
        "GPQA Diamond, 198 graduate-level questions with four choices in biology, chemistry and"
        " physics"
    ),
    dataset=f"hf://Idavidrein/gpqa?config=gpqa_diamond&split=train&revision={REVISION}",
    prompt=PROMPT,
    target_field="answer",
    target_delimiter="\n\nAnswer: ",
    id_field="Record ID",
    choices_field="choices",
    category_field="domain",
    prepare_row=with_shuffled_choices,
    card=Card(
        paper="GPQA: A Graduate-Level Google-Proof Q&A Benchmark, arXiv 2311.12022",
        licence="CC-BY-4.0; gated, and not to be republished in plain text",
        citation="Rein et al., 2023",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/Idavidrein/gpqa",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def gpqa_diamond(sample: ScorerInput) -> dict[str, Any]:
    """Compare the letter that the response gives with the gold one."""
    return mcq_letter_extract(sample)
