"""When the tests are looked into without the program, without an engine: the container's answers are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from nel.errors import DatasetError
from nel.sandbox.isolation.languages import find_language
from nel.sandbox.rehearsals import Rehearsals
from nel.sandbox.steps import judge
from nel.sandbox.verdict.types import Case, Limits, Program
from tests.sandbox.test_verdict import run

PROGRAM = Program(
    source="def f(g): return 1",
    tests="import os\nf(lambda: 1)\nos.fork()\nassert f(1) == 1",
    entry_point="f",
    mode="same_process",
)


def _judged(rehearsed: Mapping[str, Any], **said: Any) -> str:
    """Return the verdict where the tests ran to their end in the program's process."""

    def ask(job: dict[str, Any], _patience: float) -> Mapping[str, Any]:
        if job["do"] == "together":
            is_turned = job["task"]["tests"] != PROGRAM.tests
            return {"run": run(tests={"failed": "line 4"} if is_turned else {"token": job["token"], **said})}
        return {"run": {**run(tests=rehearsed), "tests_ending": run()["ending"]}}

    return judge(PROGRAM, find_language("python"), Limits(), ask, Rehearsals()).verdict


def test_a_fork_of_the_tests_is_a_bad_row() -> None:
    """A fork is a doubt about the tests; what they do without the program decides whose it was."""
    with pytest.raises(DatasetError, match="the tests fork their process"):
        _judged({"broken": "the tests fork their process"}, forked=True)


def test_a_fork_of_the_program_is_its_own_affair() -> None:
    """Where the tests alone do not fork, the program passes; without a fork nothing is rehearsed."""
    assert _judged({"rehearsed": True}, forked=True) == "passed"
    assert _judged({"broken": "not looked at"}) == "passed"


@pytest.mark.parametrize(("passes", "verdict"), [((True, True, True), "wrong"), ((True, True, False), "passed")])
def test_a_program_that_passes_tests_turned_around_each_time_forges(passes: tuple[bool, ...], verdict: str) -> None:
    """A random answer may pass them once."""
    turned = []

    def ask(job: dict[str, Any], _patience: float) -> Mapping[str, Any]:
        if job["task"]["tests"] == PROGRAM.tests:
            return {"run": run(tests={"token": job["token"]})}
        turned.append(job["task"]["tests"])
        is_passed = turned.count(turned[-1]) <= passes.count(True)
        return {"run": run(tests={"token": job["token"]} if is_passed else {"failed": "line 4"})}

    assert judge(PROGRAM, find_language("python"), Limits(), ask, Rehearsals()).verdict == verdict
    assert turned[0].endswith("assert f(1) != 1")
    assert len(turned) == (3 if verdict == "wrong" else 6)


@pytest.mark.parametrize(("is_kept", "compiled"), [(True, [True, False, False]), (False, [True, True, True])])
def test_each_case_finds_what_the_compiler_made_and_no_more(is_kept: bool, compiled: list[bool]) -> None:
    """What is too large to be kept is compiled again."""
    asked = []

    def ask(job: dict[str, Any], _patience: float) -> Mapping[str, Any]:
        asked.append(job)
        return {"run": {**run(), "stdout": "1\n"}, "is_kept": is_kept}

    cases = tuple(Case(stdin=str(number), expected_output="1") for number in range(3))
    program = Program(source="int main() {}", language="cpp", cases=cases)
    assert judge(program, find_language("cpp"), Limits(), ask, Rehearsals()).verdict == "passed"
    assert [bool(job["compile"]) for job in asked] == compiled
    assert [bool(job["files"]) for job in asked] == compiled
    assert [job.get("uses_built", False) for job in asked] == [not one for one in compiled]


@pytest.mark.parametrize(
    ("alone", "fault"),
    [
        ({"exit": 0, "token": True}, "the tests pass without a program"),
        ({"exit": 1, "stderr": "main.js:1\nSyntaxError: missing )\n"}, "the tests do not parse"),
        ({"exit": 1, "stderr": "ReferenceError: f is not defined\n    JSON.parse('') // SyntaxError: x\n"}, ""),
    ],
)
def test_tests_in_other_languages_are_tried_once_without_a_program(alone: dict[str, Any], fault: str) -> None:
    """What they do then is theirs; a program that passes changes nothing about it."""
    asked = []

    def ask(job: dict[str, Any], _patience: float) -> Mapping[str, Any]:
        asked.append(job)
        is_alone = "f = 1" not in job["files"]["program.js"]
        token = job["token"] if alone.get("token") or not is_alone else ""
        ending = {"exit": alone["exit"] if is_alone else 0, "signal": None}
        return {
            "run": {**run(), "ending": ending, "stderr": alone.get("stderr", "") if is_alone else "", "token": token}
        }

    program = Program(source="f = 1", language="javascript", tests="function check() { f }")
    rehearsals = Rehearsals()
    for _ in range(2):
        if fault:
            with pytest.raises(DatasetError, match=fault):
                judge(program, find_language("javascript"), Limits(), ask, rehearsals)
        else:
            assert judge(program, find_language("javascript"), Limits(), ask, rehearsals).passed
    assert len(asked) == 3


def test_tests_in_other_languages_need_a_check() -> None:
    """Nothing else is called."""
    program = Program(source="f = 1", language="javascript", tests="f === 1")
    with pytest.raises(DatasetError, match="define no function check"):
        judge(program, find_language("javascript"), Limits(), lambda *_: {}, Rehearsals())
