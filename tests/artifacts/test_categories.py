"""Categories of a row are broken down without being asked for, and those of the benchmark come first."""

from __future__ import annotations

from nel.artifacts.categories import Categories
from nel.metrics.accumulator import Accumulator
from nel.metrics.category_fields import FOUND_MAX, fields_of
from nel.types import Sample, Scored


def broken_down(*rows: dict[str, object], subset: str | None = None) -> dict[str, int]:
    found = Categories(Accumulator)
    for idx, row in enumerate(rows):
        sample = Sample(id=f"s{idx}", input="?", target="1", metadata=row, subset=subset)
        for category in found.of(fields_of(sample)):
            category.add(idx, Scored(reward=1.0, metrics={}))
    return {name: part.accounting.as_json()["n_total"] for name, part in found.by_name().items()}


def test_a_field_category_or_subject_is_used() -> None:
    """The first of the two that tells rows apart; a row without it is in no category."""
    assert broken_down({"subject": "law"}, {"subject": "art"}, {"subject": "law"}, {}) == {"art": 1, "law": 2}
    assert broken_down({"category": "a", "subject": "x"}, {"category": "b", "subject": "y"}) == {"a": 1, "b": 1}
    assert broken_down({"category": "a", "subject": "x"}, {"category": "a", "subject": "y"}) == {"x": 1, "y": 1}


def test_the_field_of_the_benchmark_comes_first() -> None:
    """Where the benchmark names a field, no other one is looked at."""
    assert broken_down({"category": "a"}, {"category": "b"}, subset="own") == {"own": 2}


def test_what_is_no_category_is_left_alone() -> None:
    """One value alone, numbers, empty texts and a free text in every row give no breakdown."""
    assert broken_down({"category": "a"}, {"category": "a"}) == {}
    assert broken_down({"category": 1}, {"category": " "}, {"subject": ["x"]}) == {}
    assert broken_down(*({"subject": f"text {number}"} for number in range(FOUND_MAX + 50))) == {}
    assert len(broken_down(*({"subject": f"text {number}"} for number in range(FOUND_MAX)))) == FOUND_MAX
