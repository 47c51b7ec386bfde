"""A benchmark declares the form of answer that its prompt asks for."""

from __future__ import annotations

import pytest

from nel.byob import ScorerInput, benchmark, scorer
from nel.errors import ConfigError
from nel.scoring import gsm8k_answer


def test_the_asked_form_is_read_before_any_other() -> None:
    """A later box does not win over the tag that the prompt asks for."""

    @benchmark(name="tagged", dataset="rows.jsonl", prompt="{q}", answer_form="tag result")
    @scorer
    def tagged(sample: ScorerInput) -> dict[str, object]:
        return dict(gsm8k_answer(sample))

    response = "<result>18</result> It is not \\boxed{20}."
    assert gsm8k_answer(ScorerInput(response=response, target="18", config=dict(tagged.extra)))["extracted"] == "18"


def test_an_unknown_form_is_refused_where_it_is_declared() -> None:
    with pytest.raises(ConfigError, match="tag NAME"):
        benchmark(name="b", dataset="rows.jsonl", prompt="{q}", answer_form="in a tag")
