"""Python text parsed in threads."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator

import pytest

from nel.reading.programs import python_trees
from nel.reading.programs.python_trees import parse_python

TEXT = "\n".join(
    f"def f{number}(x): return [({number} + x) * {number} for x in range({number})]" for number in range(60)
)


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads that give way as often as they can, also while a tree is built."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(5)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


@pytest.mark.usefixtures("eager_threads")
def test_threads_that_parse_at_once_all_get_their_tree() -> None:
    """CPython 3.11 raises a SystemError for some of them where they do not take turns."""
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(parse_python(TEXT).body))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [60] * 8


def test_a_fork_while_another_thread_parses_leaves_a_child_that_can_parse() -> None:
    """The lock of the parent is not the child's."""
    with python_trees._turn:
        child = os.fork()
        if child == 0:
            os._exit(len(parse_python("pass").body))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
