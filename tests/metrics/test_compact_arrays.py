"""Numbers of many questions are held in little memory, and come back as they were."""

from __future__ import annotations

import random

import pytest

from nel.metrics.compact_arrays import CompactFloats, CompactRanges


@pytest.mark.parametrize("n_values", [1, 2, 256, 257, 2_000])
def test_a_column_gives_back_what_it_was_given(n_values: int) -> None:
    """To the bit and in order, whether it needs one byte a number or eight."""
    rng = random.Random(7)  # noqa: S311 - for test data
    values = [rng.random() for _ in range(n_values)]
    given = values + [rng.choice(values) for _ in range(3_000)]
    column = CompactFloats()
    for value in given:
        column.append(value)
    assert list(column) == given
    assert column.as_array().tolist() == given
    assert len(column) == len(given)
    assert column.is_constant == (n_values == 1)


def test_an_empty_column_has_nothing_in_it() -> None:
    """No number, no length, no spread."""
    column = CompactFloats()
    assert (list(column), len(column), column.as_array().tolist(), column.is_constant) == ([], 0, [], True)


@pytest.mark.parametrize("positions", [[], [5], [0, 1, 2], [0, 2, 3, 9, 10], [1, 1, 2]])
def test_positions_come_back_in_order(positions: list[int]) -> None:
    """With gaps, and with one that occurs twice."""
    held = CompactRanges()
    for position in positions:
        held.append(position)
    assert list(held) == positions
