"""GSM8K: grade-school word problems whose answer is a number (Cobbe et al. 2021, arXiv 2110.14168)."""

from __future__ import annotations

import re
from typing import Any

from nel.byob import ScorerInput, benchmark, scorer
from nel.scoring.numbers import last_number, numbers_equal, numbers_in
from nel.scoring.text import answer_after_marker

_GOLD = re.compile(r"(?:####|\bA:)\s*([^\n]+?)\s*$")
_HASHES = re.compile(r"####\s*([^\n]*)")
_SHORT_MARKER = re.compile(r"(?m)^\s*A:[^\S\n]*([^\n]*)$")
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")

PROMPT = """Solve this problem step by step. End with a line of the form "Answer: N", where N is the number alone.

{question}"""


def with_gold_number(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with ``gold``, the number behind ``####`` (or ``A:``) at the end of its ``answer``.

    Raises:
        ValueError: The answer has no such ending.
    """
    match = _GOLD.search(str(row["answer"]))
    if match is None or last_number(match[1]) is None:
        raise ValueError('its "answer" does not end in "#### N"')
    return {**row, "gold": last_number(match[1])}


def extract(response: str) -> str | None:
    """Return the number a response gives as its answer, as written, or None.

    In this order: the first ``#### N`` (a model that runs on writes further ones for problems of its own), the last
    line ``Answer: N`` or ``A: N``, the last ``\\boxed{N}``, the last number.
    """
    hashes = _HASHES.search(response)
    short = _SHORT_MARKER.findall(response)
    boxed = _BOXED.findall(response)
    declared = answer_after_marker(response)
    for candidate in (hashes and hashes[1], declared, short and short[-1], boxed and boxed[-1]):
        found = numbers_in(candidate) if candidate else []
        if found:
            return found[0]
    return last_number(response)


@benchmark(
    name="gsm8k",
    description="GSM8K, 1,319 grade-school word problems with a number as answer",
    dataset="hf://openai/gsm8k?config=main&split=test",
    prompt=PROMPT,
    target_field="gold",
    prepare_row=with_gold_number,
)
@scorer
def gsm8k(sample: ScorerInput) -> dict[str, Any]:
    """Compare the answer's number with the gold number, exactly."""
    extracted = extract(sample.response)
    return {
        "correct": extracted is not None and numbers_equal(extracted, sample.target),
        "parsed": extracted is not None,
        "extracted": extracted,
    }
