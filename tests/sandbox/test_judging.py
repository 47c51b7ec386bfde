"""When the tests are looked into without the program, without an engine: the container's answers are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from nel.errors import DatasetError
from nel.sandbox.isolation.languages import find_language
from nel.sandbox.isolation.pool import Ask
from nel.sandbox.verdict.judging import ProgramJudge
from nel.sandbox.verdict.types import Limits, Program, ProgramVerdict, StdinCase
from tests.sandbox.test_verdict import run


def judge(language: str, ask: Ask, program: Program) -> ProgramVerdict:
    return ProgramJudge(find_language(language), Limits(), ask).judge(program)


def test_shared_tests_that_fail_are_tried_without_the_program() -> None:
    """What they do then, no program has a say in."""
    asked = []

    def ask(job: dict[str, Any], _patience: float) -> Mapping[str, Any]:
        asked.append(job["do"])
        broken = "the tests need what is not there: No module named 'x'"
        return {"run": run(tests={"failed": "line 1"} if job["do"] == "shared" else {"broken": broken})}

    program = Program(source="f = 1", tests="import x, inspect\nassert f == 1", entry_point="f")
    with pytest.raises(DatasetError, match="not there"):
        judge("python", ask, program)
    assert asked == ["shared", "split"]


@pytest.mark.parametrize(("is_kept", "compiled"), [(True, [True, False, False]), (False, [True, True, True])])
def test_each_case_finds_what_the_compiler_made_and_no_more(is_kept: bool, compiled: list[bool]) -> None:
    """What is too large to be kept is compiled again."""
    asked = []

    def ask(job: dict[str, Any], _patience: float) -> Mapping[str, Any]:
        asked.append(job)
        return {"run": {**run(), "stdout": "1\n"}, "is_kept": is_kept}

    cases = tuple(StdinCase(stdin=str(number), expected_output="1") for number in range(3))
    program = Program(source="int main() {}", language="cpp", cases=cases)
    assert judge("cpp", ask, program).verdict == "passed"
    assert [bool(job["compile"]) for job in asked] == compiled
    assert [bool(job["files"]) for job in asked] == compiled
    assert [job.get("uses_built", False) for job in asked] == [not one for one in compiled]


def test_tests_in_an_interpreted_language_that_do_not_parse_are_a_bad_row() -> None:
    """A program cannot be told from its tests by their end alone, so that they are run without it."""

    def ask(job: dict[str, Any], _patience: float) -> Mapping[str, Any]:
        ending = {"exit": 1, "signal": None}
        text = "main.js:1\nSyntaxError: missing )\n    at wrapSafe (x)\n"
        return {"run": {**run(), "ending": ending, "stderr": text, "token": ""}}

    program = Program(source="f = 1", language="javascript", tests="function check() { f(")
    with pytest.raises(DatasetError, match="do not parse"):
        judge("javascript", ask, program)


def test_tests_in_other_languages_need_a_check() -> None:
    """Nothing else is called."""
    program = Program(source="f = 1", language="javascript", tests="f === 1")
    with pytest.raises(DatasetError, match="define no function check"):
        judge("javascript", lambda *_: {}, program)
