"""Regular expressions of users and datasets, and the time they are given."""

from __future__ import annotations

import pytest

from nel.byob.scorers import regex_match
from nel.core import timed_regex
from nel.core.timed_regex import compile_pattern, last_group, search
from nel.errors import DatasetError, ScorerError
from nel.scoring.choice import multichoice_regex
from nel.types import ScorerInput

BOMB = r"(a|aa)+$"
FUSE = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"b(\d)", "b1b2", "2"),
        (r"b\d", "b1b2", "b2"),
        (r"b(\d)", "none", None),
        (r"b(\d)?", "b1b", None),
        (r"(?P<letter>[A-D])", "A to D", "D"),
        (r"", "text", ""),
    ],
)
def test_last_group(pattern: str, text: str, found: str | None) -> None:
    """The first group of the last match, or the whole of it where there is no group."""
    assert last_group(pattern, text) == found


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", r"(?P<n>a)(?P<n", "a{2,1}", r"\p{Nonsense}"])
def test_what_is_no_pattern(pattern: str) -> None:
    """A pattern that does not compile is a fault of the row, and the message quotes it."""
    for call in (lambda: compile_pattern(pattern), lambda: search(pattern, "a"), lambda: last_group(pattern, "a")):
        with pytest.raises(DatasetError, match="is not a regular expression"):
            call()


def test_a_pattern_that_is_too_deep_is_a_bad_row() -> None:
    """A pattern whose nesting exhausts the compiler is a fault of the row, not a crash."""
    with pytest.raises(DatasetError, match="is not a regular expression"):
        compile_pattern("(" * 5_000)


@pytest.fixture
def _short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up sooner, so that giving up takes less of the machine."""
    monkeypatch.setattr(timed_regex, "SECONDS_MAX", 0.2)


@pytest.mark.usefixtures("_short_limit")
@pytest.mark.parametrize("find", [search, last_group])
def test_a_pattern_that_explodes_is_given_up(find: object) -> None:
    """A pattern of nested repetition costs one sample and the time that it may take, and the next one works."""
    assert callable(find)
    with pytest.raises(ScorerError, match=r"longer than 0\.2 s on a response of 61 characters; .*nested repetition"):
        find(BOMB, FUSE)
    assert find(r"b$", FUSE) is not None


@pytest.mark.usefixtures("_short_limit")
def test_a_scorer_with_a_pattern_that_explodes() -> None:
    """Both scorers that take patterns leave the sample unscored, the next sample scored."""
    with pytest.raises(ScorerError, match="took longer"):
        regex_match(ScorerInput(response=FUSE, target=BOMB))
    with pytest.raises(ScorerError, match="took longer"):
        multichoice_regex(ScorerInput(response=FUSE, target="A"), pattern=BOMB)
    assert regex_match(ScorerInput(response=FUSE, target="a+b"))["correct"] is True
