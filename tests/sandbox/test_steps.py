"""When the tests are looked into without the program, without an engine: the container's answers are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from nel.errors import DatasetError
from nel.sandbox.languages import find_language
from nel.sandbox.rehearsals import Rehearsals
from nel.sandbox.steps import judge
from nel.sandbox.types import Limits, Program
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
            return {"run": run(tests={"token": job["token"], **said})}
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
