"""No response crashes a reader, and the work of each grows with the length of the response and not with its square."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from nel.reading.decisions import read_decision
from nel.reading.formulas import read_formula
from nel.reading.labels import read_label
from nel.reading.letters import labels_for, read_labels
from nel.reading.numbers import read_number
from nel.reading.response import Answer, own_response
from nel.reading.texts import read_text
from nel.reading.types import Form, Reading
from tests.support.tiers import ENDS, diagonal

PROMPT = "Question: Which?\nAnswer:"
BYTES = 10_000_000
SEEDS = 300
READERS: dict[str, Callable[[Answer], Reading]] = {
    "letters": lambda response: read_labels(response, labels_for(4), ("Paris", "Rome", "Oslo", "Bern")),
    "numbers": read_number,
    "decisions": read_decision,
    "labels": lambda response: read_label(response, ("valid", "invalid")),
    "texts": read_text,
    "formulas": read_formula,
}
REPEATED = ("answer is ", "\\boxed{", '"answer": "', "\\(", "<|x|>", "A:\n")
PIECES = (
    *REPEATED,
    "The answer is ",
    "<answer>",
    "</answer>",
    "#### ",
    "}",
    "$",
    "\\frac{1}{2}",
    "B",
    "42",
    "1,000",
    "yes",
    "not ",
    "valid",
    "or ",
    "Oslo",
    ". ",
    '"""',
    "<think>",
    "</think>",
    "答案：",
    "½",
    "İ",
    "\u200b",
    "\ud800",
    "\x00",
    "Question: ",
    "Wait, ",
)


@ENDS
@pytest.mark.slow
@pytest.mark.parametrize("text", REPEATED, ids=repr)
@pytest.mark.parametrize("name", READERS)
def test_ten_megabytes_end(name: str, text: str) -> None:
    """A form that is repeated through a whole response takes seconds."""
    reading = READERS[name](own_response(text * (BYTES // len(text)), PROMPT))
    assert 0 <= reading.start <= reading.end <= BYTES


@ENDS
@pytest.mark.parametrize(("name", "text"), diagonal({name: name for name in READERS}, {repr(t): t for t in REPEATED}))
def test_two_hundred_kilobytes_end(name: str, text: str) -> None:
    """A form that is repeated through a long response takes well under a second."""
    reading = READERS[name](own_response(text * (200_000 // len(text)), PROMPT))
    assert 0 <= reading.start <= reading.end <= 200_000


@pytest.mark.parametrize("name", READERS)
def test_no_response_crashes_a_reader(name: str) -> None:
    """A value stands where the reading says, and nothing is read without a form."""
    for seed in range(SEEDS):
        rng = Random(seed)  # noqa: S311 - reproducible input, no secret
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 30)))
        reading = READERS[name](own_response(text, PROMPT))
        assert (reading.value is None) == (reading.form is Form.NONE)
        assert 0 <= reading.start <= reading.end <= len(text)
        assert all(0 <= rejected.start <= rejected.end <= len(text) for rejected in reading.rejected)
