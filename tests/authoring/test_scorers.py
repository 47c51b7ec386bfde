"""The short scorers of one's own benchmark: exact_match, contains and regex_match."""

from __future__ import annotations

from typing import Any

import pytest

import nel.byob.scorers
from nel.byob.scorers import contains, exact_match, regex_match
from nel.errors import DatasetError
from nel.types import ScorerInput


def test_every_public_name_is_there() -> None:
    """Each scorer that the module promises exists and is described."""
    for name in nel.byob.scorers.__all__:
        assert getattr(nel.byob.scorers, name).__doc__, name


@pytest.mark.parametrize(
    ("scorer", "response", "target", "correct"),
    [
        (exact_match, "Rome", ["Paris", "Rome"], True),
        (exact_match, "Oslo", ["Paris", "Rome"], False),
        (exact_match, "0", 0, True),
        (contains, "It is Rome", ("Paris", "Rome"), True),
        (contains, "It is Oslo", ("Paris", "Rome"), False),
        (contains, "It is Mother’s Day.", "Mother's Day", True),
        (contains, "In Newark.", "New York", False),
        (regex_match, "It takes 42 days", r"\b4\d\s+days", True),
        (regex_match, "", r".", False),
        (regex_match, "Rome", ["Paris", "Rome"], True),
        (regex_match, "Berlin", ["Paris", "Rome"], False),
    ],
)
def test_verdicts(scorer: Any, response: str, target: Any, correct: bool) -> None:
    """Lists accept any of their parts, and numbers are compared as they are written."""
    assert scorer(ScorerInput(response=response, target=target)) == {"correct": correct}


@pytest.mark.parametrize("target", ["(", "[", "a{2,1}", "*"])
def test_a_gold_pattern_that_is_none_is_a_bad_row(target: str) -> None:
    """A target that is not a regular expression names itself."""
    with pytest.raises(DatasetError, match="is not a regular expression"):
        regex_match(ScorerInput(response="anything", target=target))
