"""`code_sandbox`: extracts the program of a response and runs it in the sandbox against tests or inputs and outputs.

A row may hold ``_prompt`` (the code to complete), ``_test`` (asserts, or ``check(candidate)``), ``entry_point`` and
``_cases`` (inputs and outputs instead of tests). Depends on `nel.sandbox`, imported when a program is run, whose
verdict decides alone; without one there is no score.
"""

from __future__ import annotations

import atexit
import inspect
from collections.abc import Awaitable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from nel.errors import DatasetError
from nel.scoring.broken_tests import broken_tests, key_of
from nel.types import ScorerInput

if TYPE_CHECKING:
    from nel.sandbox import Case, Limits, Program, Sandbox, Verdict

_Result: TypeAlias = "dict[str, bool | str | None]"
_TEST_FIELDS: Final = ("_test", "_tests", "test", "tests", "test_list")
_CASE_FIELDS: Final = ("_cases", "cases", "test_cases")
_INPUT_FIELDS: Final = ("stdin", "input")
_OUTPUT_FIELDS: Final = ("expected_output", "output", "stdout")


class _RunsPrograms(Protocol):
    """A sandbox: of this process, or of a run, which gives async scorers an awaitable."""

    def run(self, program: Program) -> Verdict | Awaitable[Verdict]:
        """Run a program against its tests."""


def code_sandbox(
    sample: ScorerInput,
    *,
    language: str | None = None,
    mode: Literal["auto", "split", "shared"] = "auto",
    compare: Literal["lines", "exact", "tokens", "floats"] = "lines",
    limits: Limits | None = None,
) -> Any:
    """Take the program out of a response and let its tests decide, in a hardened container.

    The row holds the tests in ``_test`` (or ``test``, ``test_list``), or inputs and outputs in ``_cases`` (a list of
    ``{"stdin": …, "expected_output": …}``), the code that the prompt began in ``_prompt``, and the function under test
    in ``entry_point``, which the target stands for where there is none.

    Args:
        language: ``python``, ``javascript``, ``cpp``, ``bash``, ``go``, ``rust``, ``java``; None: the row's
            ``language``, else Python.
        mode: ``split``: tests and program in two processes, between which values cross; ``shared``: the tests in the
            program's process, which is not proof against a program that attacks them; ``auto``: by the tests' text.
        compare: How the outputs of cases are compared.
        limits: Instead of the run's.

    Returns:
        ``correct``, ``parsed``, ``extracted`` (the code), ``verdict`` (``passed``, ``wrong``, ``runtime_error``,
        ``syntax_error``, ``timeout``, ``out_of_memory``, ``output_limit``, ``no_code``), ``mode``, ``detail`` (the
        failing assertion) and ``stderr``. In an async scorer, an awaitable of it. Outside a run, a sandbox of this
        process is used.

    Raises:
        SandboxError: The machinery failed; the sample is unscored, never wrong.
        DatasetError: The row has no usable tests; likewise.

    >>> code_sandbox(ScorerInput(response="I do not know.", target="add", metadata={"_test": "assert add(1, 2) == 3"}))
    {'correct': False, 'parsed': False, 'verdict': 'no_code', 'extracted': None}
    """
    from nel.reading.programs import extract_program  # noqa: PLC0415
    from nel.sandbox import Program  # noqa: PLC0415 - the sandbox is loaded when a program is to be run
    from nel.sandbox.isolation.languages import find_language  # noqa: PLC0415

    row = sample.metadata
    named = find_language(language or str(row.get("_language") or row.get("language") or "python"))
    entry_point = _entry_point(sample)
    prompt = str(row.get("_prompt") or "")
    tests, cases = _tests_of(row), _cases_of(row)
    if tests is None and not cases:
        raise DatasetError('the row has no tests: give it a field "_test", or "_cases" with inputs and outputs')
    if reason := broken_tests().get(key_of(tests, prompt, entry_point)):
        raise DatasetError(reason)
    found = extract_program(
        sample.response, language=named.name, fences=named.fences, prompt=prompt, entry_point=entry_point or None
    )
    if found is None:
        return {"correct": False, "parsed": False, "verdict": "no_code", "extracted": None}
    program = Program(
        source=found.program,
        language=named.name,
        tests=tests,
        cases=cases if tests is None else (),
        entry_point=entry_point,
        prompt=prompt,
        mode=mode,
        compare=compare,
        limits=limits,
    )
    verdict = _sandbox_of(sample).run(program)
    if inspect.isawaitable(verdict):
        return _later(found.code, verdict)
    return _result(found.code, verdict)


code_sandbox.needs_sandbox = True  # type: ignore[attr-defined]


async def _later(code: str, verdict: Awaitable[Verdict]) -> _Result:
    return _result(code, await verdict)


def _result(code: str, verdict: Verdict) -> _Result:
    result: _Result = {
        "correct": verdict.passed,
        "parsed": True,
        "extracted": code,
        "verdict": verdict.verdict,
        "mode": verdict.mode,
    }
    result["detail"] = verdict.detail
    if not verdict.passed:
        result["stderr"] = verdict.stderr
    return result


def _sandbox_of(sample: ScorerInput) -> _RunsPrograms:
    return _own_sandbox() if sample.sandbox is None else sample.sandbox


@cache
def _own_sandbox() -> Sandbox:
    """Return a sandbox of this process, for use outside a run; it is closed when the process exits."""
    from nel.sandbox import Sandbox  # noqa: PLC0415

    sandbox = Sandbox()
    atexit.register(sandbox.close)
    return sandbox


def _entry_point(sample: ScorerInput) -> str:
    given = sample.metadata.get("entry_point") or sample.target
    return given if isinstance(given, str) and given.isidentifier() else ""


def _tests_of(row: Mapping[str, object]) -> str | None:
    for name in _TEST_FIELDS:
        tests = row.get(name)
        if isinstance(tests, str) and tests.strip():
            return tests
        if isinstance(tests, (list, tuple)) and tests and all(isinstance(test, str) for test in tests):
            return "\n".join(tests)
    return None


def _cases_of(row: Mapping[str, object]) -> tuple[Case, ...]:
    from nel.sandbox import Case  # noqa: PLC0415

    given = next((row[name] for name in _CASE_FIELDS if row.get(name)), ())
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DatasetError(
            'the cases must be a list of inputs and outputs, such as [{"stdin": …, "expected_output": …}]'
        )
    cases = []
    for number, case in enumerate(given, 1):
        stdin = _first(case, _INPUT_FIELDS)
        expected = _first(case, _OUTPUT_FIELDS)
        if expected is None:
            raise DatasetError(f'case {number} has no "expected_output"')
        cases.append(Case(stdin=stdin or "", expected_output=expected))
    return tuple(cases)


def _first(case: object, names: Sequence[str]) -> str | None:
    if not isinstance(case, Mapping):
        return None
    return next((str(case[name]) for name in names if case.get(name) is not None), None)
