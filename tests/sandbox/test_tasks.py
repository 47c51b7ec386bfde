"""Tasks whose tests are broken or poisoned, and programs that reach for the names of their tests: who is to blame."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from nel.errors import DatasetError
from nel.reading.programs import extract_program
from nel.sandbox import Limits, Program, Sandbox, StdinCase
from nel.sandbox.isolation.languages import find_language
from nel.sandbox.verdict.task import read_task
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


FILES = ("kinds", "objects", "poisoned", "ways", "together", "turned", "languages", "rows", "responses")
TASKS: list[dict[str, Any]] = [
    *tomllib.loads((HOSTILE / "tasks.toml").read_text(encoding="utf-8"))["task"],
    *(case for name in FILES for case in grouped(f"{name}.toml")),
]
TIGHT = Limits(cpu_seconds=2.0, idle_seconds=1.5, memory_mb=256)
OF_OTHERS = Limits(cpu_seconds=5.0, idle_seconds=3.0)
"""For other languages than Python, whose runtimes need more."""


def program_of_task(task: dict[str, Any]) -> Program:
    """Return the program of a task, taken out of its response where that is all there is."""
    language = task.get("language", "python")
    judged: dict[str, Any] = {"prompt": task.get("prompt", "")}
    if "cases" in task:
        judged["cases"] = tuple(StdinCase(stdin=stdin, expected_output=output) for stdin, output in task["cases"])
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


@pytest.mark.docker
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_each_task_gets_its_verdict(sandbox: Sandbox, step: int) -> None:
    """In its mode, or a bad row where the tests are at fault. Those of one kind stand together: a third has all kinds."""
    need_engine("python", "javascript", "cpp", "bash")
    asked = [(task, sandbox.submit(program_of_task(task))) for task in TASKS[::step]]
    found = {}
    for task, future in asked:
        try:
            verdict, mode = future.result().verdict, future.result().mode
        except DatasetError:
            verdict, mode = "bad_row", task.get("mode", "")
        if verdict not in task["verdict"].split("|") or task.get("mode", mode) != mode:
            found[task["name"]] = verdict, mode
    assert found == {}


def test_what_a_task_supplies_does_not_come_from_the_program() -> None:
    """Modules and their members that tests use without defining them are theirs."""
    task = read_task("assert math.isclose(f(1), sqrt(4)) and Counter(f(2)) and np.all(f(3)) and other(f(4))", "", "f")
    assert dict(task.supplied) == {"math": "math", "sqrt": "math:sqrt", "Counter": "collections:Counter", "np": "numpy"}
    assert task.program_names == ("f", "other")


def test_a_function_under_test_may_have_the_name_of_a_member() -> None:
    """Without an entry point, what the tests call is what they are about."""
    assert read_task("assert gcd(4, 2) == 2").program_names == ("gcd",)
    assert read_task("assert f(2) == gcd(4, 2)").supplied == {"gcd": "math:gcd"}
    assert read_task("assert gcd(4, 2) == 2", entry_point="gcd").program_names == ("gcd",)


@pytest.mark.parametrize(
    ("tests", "is_shared"),
    [
        ("assert f([1, 2], 'a') == {3: (4,)}", False),
        ("def check(candidate):\n    assert abs(candidate(math.sqrt(2)) - 2) < 1e-6", False),
        ("def same(a, b): return a == b\nassert same(f(1), 2)", False),
        ("s = f()\ns.x = 2\nassert s.x == 2", False),
        ("class Mine(f): pass\nassert Mine().x == 1", True),
        ("calls = []\nbus = f()\nbus.on(calls.append)\nassert calls == []", False),
        ("s = f()\nassert f(s.append) == 1", False),
        ("import io, sys\nsys.stdout = io.StringIO()\nf()", True),
    ],
)
def test_the_mode_is_read_off_the_tests(tests: str, *, is_shared: bool) -> None:
    """Tests share the program's process where they use what both use, or derive from its classes."""
    assert bool(read_task(tests, "", "f").shared) is is_shared


@pytest.mark.parametrize(
    ("tests", "asks"),
    [
        ("assert pow(Mod(3), 4, 5) == 1", True),
        ("assert account(1).deposit(2) == 3", True),
        ("assert f('a').upper() == 'A' and f(2)[0].real == 2", False),
        ("assert Find_Max([[1], [2, 3]]) == [2, 3]", False),
        ("s = Sorted_List([2, 1])\nassert s == [1, 2]", True),
    ],
)
def test_objects_are_asked_where_the_tests_use_them(tests: str, *, asks: bool) -> None:
    """A class is known by its name, an object by attributes that no plain value has."""
    assert read_task(tests).asks_objects is asks


def test_a_function_that_nothing_defines_does_not_judge_answers() -> None:
    """A program that defines it would pass whatever it answers."""
    assert "almost_equal" in read_task("assert almost_equal(f(1), 2)", "", "f").fault
    assert read_task("assert decode(f('x')) == 'x'", "", "f").fault == ""


@pytest.mark.parametrize(
    ("tests", "is_broken"),
    [
        ("import sys\nassert f(1) == 2\nsys.exit(0)", False),
        ("import sys\nsys.exit(0)\nassert f(1) == 2", True),
        ("g = f(1)\nif g == 2:\n    raise SystemExit\nassert False", True),
        ("import sys\nif f(1) != 2:\n    sys.exit(1)\nassert f(2) == 3", False),
        ("gate = f()\ngate.exit()\nassert gate.size == 0", False),
        ("try:\n    import numpy\nexcept ImportError:\n    exit()\nassert f(1) == 2", False),
    ],
)
def test_tests_that_end_themselves_before_an_assertion_are_at_fault(tests: str, *, is_broken: bool) -> None:
    """For every program alike: an answer does not choose whether it is judged."""
    assert bool(read_task(tests, "", "f").fault) is is_broken
