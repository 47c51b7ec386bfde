"""From what the supervisor saw to a verdict, without an engine."""

from __future__ import annotations

import pickle
import signal
from typing import Any

import pytest

from nel.errors import DatasetError, SandboxError
from nel.sandbox.verdict.endings import of_compile, of_shared, of_split, of_step


def run(**seen: Any) -> dict[str, Any]:
    usual = {
        "reason": None,
        "ending": {"exit": 0, "signal": None},
        "out_of_memory": 0,
        "cpu_seconds": 0.1,
        "idle_seconds": 0.0,
        "wall_seconds": 0.2,
        "stdout": "",
        "stderr": "",
        "output_bytes": 0,
        "tests": None,
    }
    return {**usual, **seen}


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        ({"tests": {"passed": True, "calls": 3}}, "passed"),
        ({"tests": {"failed": "line 2: assert f(1) == 2"}}, "wrong"),
        ({"tests": {"program": "gone", "text": "it ended"}}, "runtime_error"),
        ({"tests": {"program": "raised", "text": "ValueError"}}, "runtime_error"),
        ({"tests": {"program": "parse", "text": "SyntaxError"}}, "syntax_error"),
        ({"tests": {"program": "memory", "text": "MemoryError"}}, "out_of_memory"),
        ({"tests": {"program": "too_large", "text": "9 MB"}}, "output_limit"),
        ({"reason": "cpu"}, "timeout"),
        ({"reason": "idle"}, "timeout"),
        ({"reason": "output", "tests": {"passed": True}}, "output_limit"),
        ({"ending": {"exit": None, "signal": signal.SIGXCPU}}, "timeout"),
        ({"ending": {"exit": None, "signal": signal.SIGXFSZ}}, "output_limit"),
        ({"out_of_memory": 1, "tests": {"program": "gone", "text": ""}}, "out_of_memory"),
        ({"out_of_memory": 1, "tests": {"passed": True}}, "out_of_memory"),
    ],
)
def test_split(seen: dict[str, Any], verdict: str) -> None:
    found = of_split(run(**seen), 10.0)
    assert (found.verdict, found.mode) == (verdict, "split")


def test_what_is_no_programs_answer_is_no_verdict() -> None:
    with pytest.raises(SandboxError) as died:
        of_split(run(), 10.0)
    assert died.value.kind == "tests_died"
    with pytest.raises(SandboxError) as busy:
        of_split(run(reason="overloaded"), 10.0)
    assert busy.value.kind == "overloaded"
    with pytest.raises(DatasetError, match="cannot be parsed"):
        of_split(run(tests={"broken": "the tests cannot be parsed"}), 10.0)


def test_a_shared_process_passes_with_the_token_alone() -> None:
    assert of_shared(run(tests={"token": "secret"}), 10.0, "secret").verdict == "passed"
    assert of_shared(run(tests={"token": "guess"}), 10.0, "secret").verdict == "runtime_error"
    assert of_shared(run(tests=None), 10.0, "secret").verdict == "runtime_error"
    assert of_shared(run(tests={"token": "secret"}, ending={"exit": 1}), 10.0, "secret").verdict == "runtime_error"
    assert of_shared(run(tests={"failed": "line 1"}), 10.0, "secret").verdict == "wrong"
    assert of_shared(run(tests={"program": "parse", "text": "x"}), 10.0, "secret").verdict == "syntax_error"


def test_a_step_is_judged_by_its_end() -> None:
    def step(**seen: Any) -> str | None:
        found = of_step(run(**seen), 10.0, "outside", syntax_error="^SyntaxError", assertion="Assertion .* failed")
        return None if found is None else found.verdict

    assert step() is None
    assert step(ending={"exit": 1}, stderr="boom") == "runtime_error"
    assert step(ending={"exit": 1}, stderr="Assertion `x` failed") == "wrong"
    assert step(ending={"exit": 1}, stderr="SyntaxError: no") == "syntax_error"
    assert step(ending={"exit": None, "signal": 11}) == "runtime_error"
    assert step(ending={"exit": 1}, stderr="MemoryError") == "out_of_memory"


def test_a_missing_compiler_is_the_images_fault() -> None:
    with pytest.raises(SandboxError) as missing:
        of_compile(run(ending={"exit": 127}, stderr="g++: not found"), 30.0, "outside")
    assert missing.value.kind == "image_broken"
    failed = of_compile(run(ending={"exit": 1}, stderr="main.cpp:1: error: no\nmore"), 30.0, "outside")
    assert (failed.verdict, failed.detail) == ("syntax_error", "main.cpp:1: error: no")


def test_addresses_do_not_make_two_runs_differ() -> None:
    found = of_split(run(tests={"failed": "<object at 0x7f00dead>"}, stderr="at 0x7fffbeef00"), 10.0)
    assert "dead" not in found.detail
    assert "beef" not in found.stderr


def test_the_kind_of_a_fault_crosses_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(SandboxError("no engine", kind="no_engine")))  # noqa: S301 - our own
    assert (str(error), error.kind) == ("no engine", "no_engine")
