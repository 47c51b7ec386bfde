"""One program in one container: which jobs it takes, and what their answers mean.

Which mode judges a program is decided by its tests alone, never by anything the program does.
"""

from __future__ import annotations

import ast
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from nel.errors import DatasetError
from nel.sandbox import verdict as verdicts
from nel.sandbox.compare import first_difference, outputs_equal
from nel.sandbox.languages import Language
from nel.sandbox.types import Case, Limits, Program, Verdict

Ask = Callable[[dict[str, Any], float], Mapping[str, Any]]
"""Has a job done within so many seconds."""

_COMPILE_IDLE_SECONDS: Final = 30.0
_COMPILE_FILE_BYTES: Final = 256 << 20
_FILES: Final = 256
_OUTPUT_ROOM_BYTES: Final = 1 << 16
_OWN_STREAMS: Final = re.compile(
    r"\b(?:redirect_stdout|redirect_stderr|capsys|sys\.std(?:in|out|err)|asyncio|inspect|pytest)\b"
)
"""In tests: what the program prints, or what it is, matters to them."""
_HOST_PATIENCE_SECONDS: Final = 30.0


def judge(program: Program, language: Language, limits: Limits, ask: Ask) -> Verdict:
    """Run a program in a container, within limits, and return its verdict.

    Raises:
        SandboxError: The machinery failed.
        DatasetError: The tests themselves are of no use.
        ConfigError: The language has no way to run such tests.
    """
    if not program.source.strip():
        return Verdict(verdict="no_code", mode="stdio" if program.cases else "split", detail="there is no code")
    if program.tests is None:
        return _by_cases(program, language, limits, ask)
    if not language.has_zygote:
        return _by_runner(program, language, limits, ask)
    if program.mode == "same_process" or (program.mode == "auto" and needs_same_process(program.tests)):
        return _together(program, limits, ask)
    try:
        return _split(program, limits, ask)
    except verdicts.CannotCross as error:
        if program.mode == "split":
            raise DatasetError(
                f"the tests cannot run apart from the program: {error}; use the mode same_process"
            ) from None
        return _together(program, limits, ask)


def needs_same_process(tests: str) -> bool:
    """Return whether tests use the program's process by their very text: unittest cases, mocks, pytest."""
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if _OWN_STREAMS.search(tests) or re.search(r"^\s*(?:from|import)\s+solution\b", tests, re.MULTILINE):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any("TestCase" in ast.unparse(base) for base in node.bases):
            return True
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if any(name.split(".")[0] in ("pytest", "mock") or name == "unittest.mock" for name in names):
            return True
    return False


def _split(program: Program, limits: Limits, ask: Ask) -> Verdict:
    job = {"do": "split", "source": program.source, "tests": program.tests, "prompt": program.prompt}
    reply = _asked(limits, ask, {**job, "entry_point": program.entry_point})
    return verdicts.of_split(reply["run"], limits.cpu_seconds)


def _together(program: Program, limits: Limits, ask: Ask) -> Verdict:
    token = secrets.token_hex(16)
    job = {"do": "together", "source": program.source, "tests": program.tests, "token": token}
    reply = _asked(limits, ask, {**job, "entry_point": program.entry_point})
    return verdicts.of_together(reply["run"], limits.cpu_seconds, token)


def _by_runner(program: Program, language: Language, limits: Limits, ask: Ask) -> Verdict:
    """Judge tests in the program's own language: both in one frame that gives a token back behind the last test."""
    token = secrets.token_hex(16)
    job = _command_job(limits, language, language.framed(program.source, program.tests or ""))
    reply = _asked(limits, ask, {**job, "token": token})
    if "run" not in reply:
        return verdicts.of_compile(reply["compile"], limits.compile_seconds, "same_process")
    run = reply["run"]
    bad = verdicts.of_step(
        run, limits.cpu_seconds, "same_process", syntax_error=language.syntax_error, assertion=language.assertion
    )
    if bad is not None:
        return bad
    if run.get("token") == token:
        return verdicts.verdict_of(run, "same_process", "passed", "all tests ran to their end")
    return verdicts.verdict_of(run, "same_process", "runtime_error", "it ended before its tests did")


def _by_cases(program: Program, language: Language, limits: Limits, ask: Ask) -> Verdict:
    """Judge by inputs and outputs; the first case that is not right decides."""
    if not program.cases:
        raise DatasetError("the problem has neither tests nor cases")
    total = 0.0
    verdict = None
    for number, case in enumerate(program.cases):
        is_last = number == len(program.cases) - 1
        job = _case_job(program, language, limits, is_first=number == 0)
        keeps = not language.has_zygote and not is_last  # a compiled program must be there for the next case
        job = {**job, "stdin": case.stdin, "keep_output": True, "keep_files": keeps}
        reply = _asked(_room_for(limits, case), ask, job)
        verdict = _of_case(program, language, limits, reply, case)
        total += verdict.cpu_seconds
        if not verdict.passed:
            if not is_last:
                ask({"do": "commands"}, _HOST_PATIENCE_SECONDS)  # clears what the cases left for each other
            return replace(verdict, detail=f"case {number + 1} of {len(program.cases)}: {verdict.detail}")
    assert verdict is not None  # noqa: S101 - there is a case
    return replace(verdict, detail=f"{len(program.cases)} cases", cpu_seconds=total)


def _room_for(limits: Limits, case: Case) -> Limits:
    """Return limits that leave room for the expected output, however large it is."""
    needed = 2 * len(case.expected_output.encode("utf-8", "surrogatepass")) + _OUTPUT_ROOM_BYTES
    return limits.model_copy(update={"output_bytes": max(limits.output_bytes, needed)})


def _of_case(program: Program, language: Language, limits: Limits, reply: Mapping[str, Any], case: Case) -> Verdict:
    if "run" not in reply:
        return verdicts.of_compile(reply["compile"], limits.compile_seconds, "stdio")
    run = reply["run"]
    bad = verdicts.of_step(run, limits.cpu_seconds, "stdio", syntax_error=language.syntax_error)
    if bad is not None:
        return bad
    if outputs_equal(run["stdout"], case.expected_output, rule=program.compare):
        return verdicts.verdict_of(run, "stdio", "passed", "")
    return verdicts.verdict_of(run, "stdio", "wrong", first_difference(run["stdout"], case.expected_output))


def _case_job(program: Program, language: Language, limits: Limits, *, is_first: bool) -> dict[str, object]:
    if language.has_zygote:
        return {"do": "script", "source": program.source}
    if is_first:
        return _command_job(limits, language, {language.source: language.completed(program.source)})
    return {"do": "commands", "command": list(language.run), "environment": dict(language.environment)}


def _command_job(limits: Limits, language: Language, files: Mapping[str, str]) -> dict[str, Any]:
    compile_limits = {
        "cpu_seconds": limits.compile_seconds,
        "idle_seconds": _COMPILE_IDLE_SECONDS,
        "wall_seconds_max": _wall_seconds_max(limits.compile_seconds, _COMPILE_IDLE_SECONDS),
        "output_bytes": 1 << 20,
        "file_bytes": _COMPILE_FILE_BYTES,
        "processes": language.processes,
        "files": _FILES,
        "environment": dict(language.environment),
    }
    return {
        "do": "commands",
        "files": dict(files),
        "compile": list(language.compile),
        "compile_limits": compile_limits,
        "command": list(language.run),
        "environment": dict(language.environment),
    }


def _asked(limits: Limits, ask: Ask, job: dict[str, Any]) -> Mapping[str, Any]:
    given = limits_for_job(limits)
    given["environment"] = job.pop("environment", {})
    patience = given["wall_seconds_max"] + _HOST_PATIENCE_SECONDS
    if job.get("compile"):
        patience += job["compile_limits"]["wall_seconds_max"]
    return ask({**job, "limits": given}, patience)


def limits_for_job(limits: Limits) -> dict[str, Any]:
    """Return limits as the supervisor gets them."""
    return {
        "cpu_seconds": limits.cpu_seconds,
        "idle_seconds": limits.idle_seconds,
        "wall_seconds_max": _wall_seconds_max(limits.cpu_seconds, limits.idle_seconds),
        "output_bytes": limits.output_bytes,
        "file_bytes": limits.file_bytes,
        "processes": limits.processes,
        "files": _FILES,
    }


def _wall_seconds_max(cpu_seconds: float, idle_seconds: float) -> float:
    """Return the time after which a machine is too busy to tell: twenty times what the limits allow, and a minute."""
    return 20 * (cpu_seconds + idle_seconds) + 60
