"""`code_sandbox`: runs the program of a response in the sandbox, on tests or inputs and outputs.

A row may hold ``_prompt`` (the code to complete), ``_test`` (asserts, or ``check(candidate)``),
``entry_point`` and ``_cases`` (inputs and outputs instead of tests). Depends on `nel.sandbox`,
imported when a program is run, whose verdict decides alone; without one there is no score.
"""

from __future__ import annotations

import atexit
import inspect
from collections.abc import Awaitable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nel.errors import DatasetError
from nel.scoring.broken_tests import broken_tests, key_of
from nel.scoring.program_rows import cases_of, entry_point_of, tests_of
from nel.types import ScorerInput

if TYPE_CHECKING:
    from nel.reading.programs import Extracted
    from nel.sandbox import Limits, ProgramVerdict, Sandbox
    from nel.sandbox.isolation.languages import Language

_Result: TypeAlias = "dict[str, bool | str | None]"


def code_sandbox(
    sample: ScorerInput,
    *,
    language: str | None = None,
    mode: Literal["auto", "split", "shared"] = "auto",
    compare: Literal["lines", "exact", "tokens", "floats"] = "lines",
    limits: Limits | None = None,
) -> Any:
    """Take the program out of a response and let its tests decide, in a hardened container.

    The row holds the tests in ``_test`` (or ``test``, ``test_list``), or inputs and outputs in
    ``_cases`` (a list of ``{"stdin": …, "expected_output": …}``), the code that the prompt began in
    ``_prompt``, and the function under test in ``entry_point``, which the target stands for where
    there is none.

    Args:
        language: ``python``, ``javascript``, ``cpp``, ``bash``, ``go``, ``rust``, ``java``; None:
            the row's ``language``, else Python.
        mode: ``split``: tests and program in two processes, between which values cross; ``shared``:
            the tests in the program's process, which is not proof against a program that attacks
            them; ``auto``: by the tests' text.
        compare: How the outputs of cases are compared.
        limits: Instead of the run's.

    Returns:
        ``correct``, ``parsed``, ``extracted`` (the code), ``verdict`` (``passed``, ``wrong``,
        ``runtime_error``, ``syntax_error``, ``timeout``, ``out_of_memory``, ``output_limit``,
        ``no_code``), ``mode``, ``detail`` (the failing assertion) and ``stderr``. In an async
        scorer, an awaitable of it. Outside a run, a sandbox of this process is used.

    Raises:
        SandboxError: The machinery failed; the sample is unscored, never wrong.
        DatasetError: The row has no usable tests; likewise.

    >>> code_sandbox(ScorerInput(response="I do not know.", target="add", metadata={"_test": "assert add(1, 2) == 3"}))
    {'correct': False, 'parsed': False, 'verdict': 'no_code', 'extracted': None}
    """
    from nel.sandbox import Program  # noqa: PLC0415 - loaded when a program is to be run
    from nel.sandbox.isolation.languages import find_language  # noqa: PLC0415

    row = sample.metadata
    runner = find_language(language or str(row.get("_language") or row.get("language") or "python"))
    task = _task_of(sample)
    extracted = _extract(sample.response, runner, task)
    if extracted is None:
        return {"correct": False, "parsed": False, "verdict": "no_code", "extracted": None}
    program = Program(
        source=extracted.program,
        language=runner.name,
        mode="auto" if task["tests"] is None else mode,
        compare=compare,
        limits=limits,
        **task,
    )
    verdict = sandbox_of(sample).run(program)
    if inspect.isawaitable(verdict):
        return _later(extracted.code, verdict)
    return _result(extracted.code, verdict)


code_sandbox.needs_sandbox = True  # type: ignore[attr-defined]


def _extract(response: str, language: Language, task: Mapping[str, Any]) -> Extracted | None:
    from nel.reading.programs import extract_program  # noqa: PLC0415 - as above

    return extract_program(
        response,
        language=language.name,
        fences=language.fences,
        prompt=task["prompt"],
        entry_point=task["entry_point"] or None,
    )


def _task_of(sample: ScorerInput) -> dict[str, Any]:
    """Return the fields of a `Program` that a row decides: its tests, or inputs and outputs.

    Raises:
        DatasetError: It has neither, or tests that are known to be broken.
    """
    row = sample.metadata
    tests, cases = tests_of(row), cases_of(row)
    if tests is None and not cases:
        raise DatasetError(
            'the row has no tests: give it a field "_test", or "_cases" with inputs and outputs'
        )
    entry_point, prompt = entry_point_of(sample), str(row.get("_prompt") or "")
    if reason := broken_tests().get(key_of(tests, prompt, entry_point)):
        raise DatasetError(reason)
    return {
        "tests": tests,
        "cases": cases if tests is None else (),
        "entry_point": entry_point,
        "prompt": prompt,
    }


async def _later(code: str, verdict: Awaitable[ProgramVerdict]) -> _Result:
    return _result(code, await verdict)


def _result(code: str, verdict: ProgramVerdict) -> _Result:
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


def sandbox_of(sample: ScorerInput) -> Any:
    """Return the sandbox of a run; outside of one, that of this process."""
    return _own_sandbox() if sample.sandbox is None else sample.sandbox


@cache
def _own_sandbox() -> Sandbox:
    """Return a sandbox of this process for use outside a run; it is closed on exit."""
    from nel.sandbox import Sandbox  # noqa: PLC0415

    sandbox = Sandbox()
    atexit.register(sandbox.close)
    return sandbox
