"""The draw of samples for a page is fair, the same each time, and bounded."""

from __future__ import annotations

from collections import Counter

import pytest

from nel.reports.drawing import Draw, fair_shares


@pytest.mark.parametrize(
    ("counts", "room", "shares"),
    [
        ({"a": 5, "b": 1}, 10, {"a": 5, "b": 1}),
        ({"a": 50, "b": 1, "c": 40}, 11, {"a": 5, "b": 1, "c": 5}),
        ({"a": 9, "b": 9, "c": 9}, 10, {"a": 3, "b": 3, "c": 4}),
        ({"a": 9, "b": 9}, 1, {"a": 0, "b": 1}),
        ({}, 5, {}),
    ],
)
def test_room_is_equal_and_used_whole(counts: dict[str, int], room: int, shares: dict[str, int]) -> None:
    """What needs less than its part is taken whole, and the others share the rest."""
    assert fair_shares(counts, room) == shares


def draw(order: range, room: int = 30) -> Draw:
    draw = Draw(room)
    for position in order:
        draw.add(
            ("law" if position % 100 else "rare", "right" if position % 3 else "wrong"), f"id-{position}", position
        )
    return draw


def test_the_order_of_the_samples_changes_nothing() -> None:
    """The draw depends on the ids alone, takes each stratum's share, and a smaller one is a part of a larger."""
    found = draw(range(1000)).draw(30)
    assert found == draw(range(999, -1, -1)).draw(30)
    strata = Counter((position % 100 == 0, position % 3 == 0) for position in found)
    assert strata == {(True, True): 4, (True, False): 6, (False, True): 10, (False, False): 10}
    assert draw(range(1000)).draw(8) < found


def test_repeats_of_a_question_are_drawn_together() -> None:
    """Repeats have one digest, so that all of a stratum's come or none but at its edge."""
    draw = Draw(20)
    for position in range(200):
        draw.add(("", "right"), f"question-{position // 10}", position)
    assert sorted(Counter(position // 10 for position in draw.draw(20)).values()) == [10, 10]
