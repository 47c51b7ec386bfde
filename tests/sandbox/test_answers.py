"""Tests in the process of a program: what its answers are compared as."""

from __future__ import annotations

import ast
import math
from typing import Any

import pytest

from nel.sandbox.agent.answers import Answers
from nel.sandbox.task import read_task

LIES = """
import collections
class Number(int):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
    __hash__ = int.__hash__
class Items(list):
    def __eq__(self, other): return True
class Anything:
    def __eq__(self, other): return True
    def __contains__(self, item): return True
    def __iter__(self): return iter(())
Pair = collections.namedtuple("Pair", "x y")
class Money:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == getattr(other, "n", other)
"""


def fails(tests: str, program: str, *, entry_point: str = "f") -> bool:
    """Return whether tests fail that share the process of a program."""
    task = read_task(tests, "", entry_point)
    answers = Answers(task.modules)
    module: dict[str, Any] = {"__name__": "solution"}
    exec(LIES + program, module)  # noqa: S102 - of this file
    space: dict[str, Any] = {**module, "__name__": "tests"}
    tree = ast.parse(tests, "tests.py")
    own: dict[str, Any] = {}
    answers.guard(tree, task.payload(shares_process=True), module, own)
    space |= own
    try:
        exec(compile(tree, "tests.py", "exec"), space)  # noqa: S102 - likewise
    except (AssertionError, TypeError):
        return True
    return False


@pytest.mark.parametrize(
    ("tests", "answer"),
    [
        ("assert f(1) == 3", "Number(0)"),
        ("assert f(1) == 3", "Anything()"),
        ("assert f(1) == [3]", "Items()"),
        ("assert f(1) == [3]", "[Number(0)]"),
        ("assert f(1) == {'a': (3,)}", "{'a': (Anything(),)}"),
        ("r = f(1)\nassert abs(r - 3) < 1e-6", "Number(9)"),
        ("assert 3 in f(1)", "Anything()"),
        ("assert not f(1) != 3", "Anything()"),
        ("match f(1):\n    case 3: pass\n    case _: raise AssertionError", "Number(0)"),
    ],
)
def test_a_value_equals_nothing_because_it_says_so(tests: str, answer: str) -> None:
    """Each operation of the tests sees the builtin value, or an object that equals no plain value."""
    assert fails(tests, f"f = lambda n: {answer}")


@pytest.mark.parametrize(
    ("tests", "answer"),
    [
        ("assert f(1) == 3", "Number(3)"),
        ("assert f(1) == (1, 2) and f(1).x == 1", "Pair(1, 2)"),
        ("r = f(1)\nassert r == [3] and r is not f(1)", "[3]"),
        ("assert 1 < f(1) <= 3 and f(1) - 1 == 2", "3"),
        ("assert f(1) == f(1)", "Money(2)"),
        ("m = Money(2)\nm.n = 3\nassert m == 3 and Money(2) == Money(2)", "0"),
        ("class Own:\n    def __eq__(self, other): return other == 3\nassert Own() == f(1)", "3"),
        ("import math\nassert math.isnan(f(1)) and f(1) != f(1)", "float('nan')"),
    ],
)
def test_what_is_right_stays_right(tests: str, answer: str) -> None:
    """Classes of the tests and those that a task is about are asked; a container without lies is itself."""
    assert not fails(tests, f"f = lambda n: {answer}")


def test_modules_that_the_tests_import_are_given_back() -> None:
    """What the program put into them is gone before the tests run."""
    assert fails("import math\nassert math.isclose(f(1), 3)", "import math\nmath.isclose = max\nf = lambda n: 1")
    assert math.isclose(1, 1)
