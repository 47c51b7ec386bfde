"""The rule of growth: no change of the readers makes a recorded set worse."""

from __future__ import annotations

import json

import pytest

from nel.reading.table import rule_versions
from tests.reading.recorded import COUNTS, counts, problems, sets

RECORDED = json.loads(COUNTS.read_text(encoding="utf-8"))

pytestmark = pytest.mark.shared_data


def test_every_recorded_set_has_counts() -> None:
    """A new set is counted from its first day."""
    assert set(RECORDED["sets"]) == set(sets())


def test_the_versions_are_those_of_the_counts() -> None:
    """`python -m tests.reading.recorded --write` writes the counts when a version is raised."""
    assert RECORDED["versions"] == rule_versions()


@pytest.mark.parametrize("name", RECORDED["sets"])
def test_set_is_read_as_when_the_counts_were_written(name: str) -> None:
    """A change of any value needs another version of the rule, and counts that are not worse."""
    assert counts(name) == RECORDED["sets"][name]


def test_a_set_that_is_read_worse_is_not_written() -> None:
    """Fewer right answers are refused, under any version."""
    before = {"versions": {"rule": 1}, "sets": {"a": {"gold": 5, "as_source": 5, "values": "x"}}}
    worse = {"versions": {"rule": 2}, "sets": {"a": {"gold": 4, "as_source": 5, "values": "y"}}}
    assert problems(before, worse) == ["a: gold 5 before, 4 now"]


def test_other_values_need_another_version() -> None:
    """Runs that a changed rule scored are not comparable with those of the rule before."""
    before = {"versions": {"rule": 1}, "sets": {"a": {"gold": 5, "as_source": 5, "values": "x"}}}
    other = {"versions": {"rule": 1}, "sets": {"a": {"gold": 5, "as_source": 5, "values": "y"}}}
    assert problems(before, other) == ["a: read otherwise; raise the version of what changed in forms.toml"]
