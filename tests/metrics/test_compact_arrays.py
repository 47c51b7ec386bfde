"""Numbers of many questions are held in little memory, and come back as they were."""

from __future__ import annotations

import random

import numpy as np
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


@pytest.mark.parametrize("n_values", [1, 2, 255, 256, 257, 2_000])
def test_numbers_added_together_are_those_added_one_by_one(n_values: int) -> None:
    """Also where the 257th value comes in the middle of them."""
    rng = random.Random(11)  # noqa: S311 - for test data
    values = [rng.random() for _ in range(n_values)]
    column, given = CompactFloats(), []
    for _ in range(6):
        more = [rng.choice(values) for _ in range(400)]
        column.extend(np.array(more))
        given += more
        column.append(values[0])
        given.append(values[0])
    assert list(column) == given
    assert column.as_array().tolist() == given


def test_positions_added_together_are_those_added_one_by_one() -> None:
    """With gaps, and with a position twice."""
    ranges, given = CompactRanges(), [0, 1, 2, 5, 5, 6, 9]
    ranges.extend(np.array(given[:3]))
    ranges.extend(np.array([], dtype=np.int64))
    ranges.append(5)
    ranges.extend(np.array(given[4:]))
    assert list(ranges) == given
