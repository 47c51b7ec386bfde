"""Tasks computed in processes give what they give here, in order, whatever becomes of a process."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from nel.core.forked_map import map_forked

HERE = os.getpid()


@pytest.mark.parametrize(("processes", "n"), [(1, 7), (2, 1), (3, 0), (3, 7)])
def test_results_come_in_the_order_of_the_tasks(processes: int, n: int) -> None:
    """Also where there are fewer tasks than processes, or more."""
    texts = ["x" * 200_000 * (number % 2) + str(number) for number in range(n)]
    assert list(map_forked(str.upper, texts, processes=processes)) == [text.upper() for text in texts]


def test_tasks_are_computed_elsewhere_and_none_is_left_when_the_last_result_is_there() -> None:
    """Each process has ended when the iteration has."""
    pids = set(map_forked(lambda _: os.getpid(), range(5), processes=2))
    assert HERE not in pids
    assert not any(Path("/proc", str(pid)).exists() for pid in pids)


def test_an_exception_is_raised_here() -> None:
    """The one that the function raises, after the results before it."""

    def halved(number: int) -> int:
        if number % 2:
            raise ValueError(f"{number} is odd")
        return number // 2

    found: list[int] = []
    with pytest.raises(ValueError, match="3 is odd"):
        found.extend(map_forked(halved, [2, 4, 3, 6], processes=2))
    results = map_forked(halved, [2, 4, 3, 6], processes=2)
    assert [next(results), next(results)] == [1, 2]
    with pytest.raises(ValueError, match="3 is odd"):
        next(results)


def test_the_task_of_a_killed_process_is_computed_here() -> None:
    """And so are those that it would have got."""

    def computed_in(number: int) -> tuple[int, bool]:
        if number == 1 and os.getpid() != HERE:
            os.kill(os.getpid(), signal.SIGKILL)
        return number, os.getpid() == HERE

    found = list(map_forked(computed_in, range(6), processes=2))
    assert [number for number, _ in found] == [*range(6)]
    assert 1 in [number for number, is_here in found if is_here]
