"""The part of a sample's response that its scorer reads."""

from __future__ import annotations

from nel.reading.numbers import read_number
from nel.reading.own import own_answer
from nel.types import ScorerInput


def test_the_form_that_a_benchmark_declares_is_read_first() -> None:
    """It stands in the benchmark's extra."""
    sample = ScorerInput(
        response="<result>7</result> The answer is 9.", target="", config={"answer_form": "tag result"}
    )
    assert read_number(own_answer(sample)[0]).value == "7"


def test_a_strict_form_is_the_only_one() -> None:
    """An answer in another form does not count."""
    sample = ScorerInput(
        response="The answer is 9.", target="", config={"answer_form": "tag result", "strict_form": True}
    )
    assert read_number(own_answer(sample)[0]).value is None
