"""GSM8K: grade-school word problems whose answer is a number (arXiv 2110.14168)."""

from __future__ import annotations

import re
from typing import Literal

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.numbers import last_number
from nel.reading.numerals import numbers_equal
from nel.reading.types import OFFICIAL_RULE, Form, Reading, Value
from nel.scoring.answers import read_sample_number

REVISION = "740312add88f781978c0658806c59bc2815b9866"
# "… 9 * 2 = 18\n#### 18"; the outputs that the authors published end in "A: 18".
_GOLD = re.compile(r"(?:####|\bA:)\s*([^\n]+?)\s*$")
_OFFICIAL = re.compile(r"#### (\-?[0-9\.\,]+)")
_DIGITS_MAX = 18
"""Of a gold answer that is taken as it stands, as most are; longer ones are read as answers are."""

PROMPT = """Solve this problem step by step. End with a line of the form "Answer: N", where N is the number alone.

{question}"""


def read_official(sample: ScorerInput) -> Reading:
    """Return the number after the first ``#### ``, as the authors' ``extract_answer`` does."""
    match = _OFFICIAL.search(sample.response)
    if match is None:
        return Reading()
    return Reading().take(Value(match[1].replace(",", ""), *match.span(1)), Form.OFFICIAL)


def with_gold_number(row: dict[str, object]) -> dict[str, object]:
    """Return the row with ``gold``, the number that ends its ``answer`` after ``####`` or ``A:``.

    Raises:
        ValueError: The answer has no such ending.
    """
    match = _GOLD.search(str(row["answer"]))
    gold = None if match is None else _gold_in(match[1])
    if gold is None:
        raise ValueError('its "answer" does not end in "#### N"')
    return {**row, "gold": gold}


def _gold_in(text: str) -> str | None:
    is_numeral = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    return text if is_numeral else last_number(text)


@benchmark(
    name="gsm8k",
    description="GSM8K, 1,319 grade-school word problems with a number as answer",
    dataset=f"hf://openai/gsm8k?config=main&split=test&revision={REVISION}",
    prompt=PROMPT,
    target_field="gold",
    prepare_row=with_gold_number,
    card=Card(
        paper="Training Verifiers to Solve Math Word Problems, arXiv 2110.14168",
        licence="MIT",
        citation="Cobbe et al., 2021",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/openai/gsm8k",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def gsm8k(
    sample: ScorerInput, *, rule: Literal["general", "official"] = "general"
) -> dict[str, object]:
    """Compare the answer's number with the gold number, exactly.

    The general rule is the default, since the prompt asks for "Answer: N" and not for the authors'
    ``#### N``.
    """
    details: dict[str, bool] = {}
    if rule == OFFICIAL_RULE:
        reading = read_official(sample)
    else:
        reading, details = read_sample_number(sample)
    extracted = reading.value
    return {
        "correct": extracted is not None and numbers_equal(extracted, sample.target),
        "parsed": extracted is not None,
        "extracted": extracted,
        **details,
    }
