"""Tasks whose tests are broken or poisoned, and programs that reach for the names of their tests: who is to blame."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from nel.errors import DatasetError
from nel.sandbox import Case, Limits, Program, Sandbox
from nel.sandbox.isolation.languages import find_language
from nel.sandbox.task import read_task
from nel.scoring.code.extraction import extract_program
from tests.sandbox.conftest import need_engine

HOSTILE = Path(__file__).parent / "hostile"


def grouped(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file of groups as tasks: what a case does not say its group does."""
    groups = tomllib.loads((HOSTILE / name).read_text(encoding="utf-8"))["group"]
    defaults = {"entry_point": "f", "verdict": "passed"}
    return [
        {**defaults, **group, **case, "name": f"{group['name']}: {case['name']}"}
        for group in groups
        for case in group["case"]
    ]


FILES = ("objects", "poisoned", "ways", "together", "turned", "controls", "languages", "rows", "responses")
GROUPED: list[dict[str, Any]] = [case for name in FILES for case in grouped(f"{name}.toml")]
TASKS: list[dict[str, Any]] = tomllib.loads((HOSTILE / "tasks.toml").read_text(encoding="utf-8"))["task"]
TIGHT = Limits(cpu_seconds=2.0, idle_seconds=1.5, memory_mb=256)
OF_OTHERS = Limits(cpu_seconds=5.0, idle_seconds=3.0)
"""For other languages than Python, whose runtimes need more."""


def program_of_task(task: dict[str, Any]) -> Program:
    """Return the program of a task, taken out of its response where that is all there is."""
    language = task.get("language", "python")
    judged: dict[str, Any] = {"prompt": task.get("prompt", "")}
    if "cases" in task:
        judged["cases"] = tuple(Case(stdin=stdin, expected_output=output) for stdin, output in task["cases"])
    else:
        judged |= {"tests": task["tests"], "entry_point": task["entry_point"]}
    limits = TIGHT if language == "python" else OF_OTHERS
    return Program(source=source_of_task(task), language=language, limits=limits, **judged)


def source_of_task(task: dict[str, Any]) -> str:
    if "response" not in task:
        return str(task["program"])
    language = find_language(task.get("language", "python"))
    found = extract_program(
        task["response"],
        language=language.name,
        fences=language.fences,
        prompt=task.get("prompt", ""),
        entry_point=None if "cases" in task else task["entry_point"] or None,
    )
    return "" if found is None else found.program


def judged(sandbox: Sandbox, task: dict[str, Any]) -> tuple[str, str]:
    """Return the verdict and the mode of a task of the table; one that is to blame itself has the verdict bad_row."""
    try:
        verdict = sandbox.run(program_of_task(task))
    except DatasetError:
        return "bad_row", ""
    return verdict.verdict, verdict.mode


def expected(task: dict[str, Any], found: tuple[str, str]) -> tuple[str, str]:
    return found[0] if found[0] in task["verdict"].split("|") else task["verdict"], task.get("mode", "")


@pytest.mark.docker
@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task["name"]))
def test_each_task_is_judged_by_who_is_to_blame(sandbox: Sandbox, task: dict[str, Any]) -> None:
    """The expected verdict in the expected mode, or a bad row where the tests are at fault."""
    found = judged(sandbox, task)
    assert found == expected(task, found)


@pytest.mark.docker
def test_each_case_of_the_groups_gets_its_verdict(sandbox: Sandbox) -> None:
    """Tests and programs in odd forms, all at once: a case takes a few milliseconds."""
    need_engine(*sorted({case.get("language", "python") for case in GROUPED}))
    asked = [(case, sandbox.submit(program_of_task(case))) for case in GROUPED]
    found = {}
    for case, future in asked:
        try:
            verdict, mode = future.result().verdict, future.result().mode
        except DatasetError:
            verdict, mode = "bad_row", case.get("mode", "")
        if verdict not in case["verdict"].split("|") or case.get("mode", mode) != mode:
            found[case["name"]] = verdict, mode
    assert found == {}


@pytest.mark.parametrize(
    ("tests", "is_wrong"),
    [
        ("def same(a, b): return a == b\nassert same(f(1))", True),
        ("def same(a, b): return a == b\nassert same(f(1), 2, 3)", True),
        ("def same(a, b): return a == b\nassert same(f(1), c=2)", True),
        ("def same(a, *, b): return a == b\nassert same(f(1))", True),
        ("def same(a, b=2): return a == b\nassert same(f(1))", False),
        ("def same(a, b): return a == b\nassert same(*f(1))", False),
        ("def same(*a, **k): return a == k\nassert same(f(1), 2, b=3)", False),
        ("def same(a, b): return a == b\ntry:\n    same(f(1))\nexcept TypeError:\n    pass\nassert f(1) == 2", False),
        ("@f\ndef same(a, b): return a == b\nassert same(1) == 2", False),
    ],
)
def test_a_function_of_the_tests_is_called_as_it_can_be(tests: str, *, is_wrong: bool) -> None:
    """A program has no part in how tests call their own function, but for one that it decorates."""
    assert ("arguments that it does not take" in read_task(tests, "", "f").broken) is is_wrong


def test_what_a_task_supplies_does_not_come_from_the_program() -> None:
    """Modules and their members that tests use without defining them are theirs."""
    task = read_task("assert math.isclose(f(1), sqrt(4)) and Counter(f(2)) and np.all(f(3)) and other(f(4))", "", "f")
    assert dict(task.supplied) == {"math": "math", "sqrt": "math:sqrt", "Counter": "collections:Counter", "np": "numpy"}
    assert task.wanted == ("f", "other")


def test_a_function_under_test_may_have_the_name_of_a_member() -> None:
    """Without an entry point, what the tests call is what they are about."""
    assert read_task("assert gcd(4, 2) == 2").wanted == ("gcd",)
    assert read_task("assert f(2) == gcd(4, 2)").supplied == {"gcd": "math:gcd"}
    assert read_task("assert gcd(4, 2) == 2", entry_point="gcd").wanted == ("gcd",)


@pytest.mark.parametrize(
    ("tests", "crosses"),
    [
        ("assert f([1, 2], 'a') == {3: (4,)}", True),
        ("def check(candidate):\n    assert abs(candidate(math.sqrt(2)) - 2) < 1e-6", True),
        ("assert all(f(x) for x in range(3))", True),
        ("assert f(lambda x: x)", False),
        ("def g(): pass\nassert f(g)", False),
        ("assert f(len) == 1", False),
        ("assert f(x for x in [1])", False),
        ("assert f(iter([1]))", False),
        ("import math\nassert f(math) == 1", False),
        ("assert f([math.sqrt]) == 1", False),
        ("r = f(1)\nassert f(r.items) == 1", False),
    ],
)
def test_whether_all_crosses_is_read_off_the_text_or_in_doubt(tests: str, *, crosses: bool) -> None:
    """Where the text does not show that everything has a plain form, the tests are rehearsed before a program runs."""
    assert read_task(tests, "", "f").crosses is crosses


@pytest.mark.parametrize(
    ("tests", "line", "is_own"),
    [
        ("assert f(1) == 2\n1 / 0", 2, True),
        ("r = f(1)\nassert r[0] == 2", 2, False),
        ("if f(1):\n    1 / 0", 2, False),
        ("try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass", 3, False),
        ("n = 0\nfor x in f(3):\n    n += 1\n1 / n", 4, False),
        ("errors = []\ntry:\n    f(1)\nexcept ValueError:\n    errors.append(1)\nassert errors", 6, False),
        ("a = [1]\nf(a)\nassert a == [2]", 3, False),
        ("import math\nf(1)\nmath.sqrt(-1)", 3, True),
        ("class T:\n    def out(self): return f(1)\nassert T().out() == 2", 3, False),
        ("class T:\n    def make(cls): cls.r = f(1)\n    def look(self): assert self.r == 2", 3, False),
        ("def run(x, g=f): return g(x)\nassert run(1) == 2", 2, False),
        ("class T:\n    def out(self): return 1\nf(1)\nassert T().out() == 2", 4, True),
    ],
)
def test_what_tests_raise_is_their_own_where_the_program_has_no_part_in_it(
    tests: str, line: int, *, is_own: bool
) -> None:
    """By names alone; in doubt the program has a part in it."""
    assert read_task(tests, "", "f").is_own([line], shares_process=False) is is_own


def test_a_failure_in_a_function_is_own_only_where_all_calls_are() -> None:
    """A helper that raises is the tests' way to say that an answer is wrong."""
    task = read_task("def fail():\n    raise ValueError\nif f(1) != 2:\n    fail()\nfail()", "", "f")
    assert not task.is_own([4, 2], shares_process=False)
    assert read_task("def fail():\n    1 / 0\nf(1)\nfail()", "", "f").is_own([4, 2], shares_process=False)


def test_a_program_in_the_same_process_has_a_part_in_whatever_the_tests_store() -> None:
    """What was printed, or how often a function was called, is read from an object of the tests."""
    task = read_task("out = io.StringIO()\nf(out)\nassert out.getvalue() == 'x'", "", "f")
    assert not task.is_own([3], shares_process=True)


def test_marks_leave_lines_where_they_are() -> None:
    """Assertions in one line with others, after letters of several bytes and over several lines."""
    tests = "def check(candidate):\n    x = 'é'; assert candidate(1) == (\n        2)\n    if x: assert candidate(3)\n"
    task = read_task(tests, "", "f")
    assert task.marked.count("\n") == tests.count("\n")
    assert task.marked.split("\n")[1] == "    x = 'é'; _nel_reached(2); assert candidate(1) == ("
    assert task.owed == (2,)
