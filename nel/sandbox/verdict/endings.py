"""From what the supervisor saw to a verdict.

Precedence: whatever is not the program's fault, then breached limits, then how the program ended,
then what the tests say. Nothing that the program wrote is read for success. Exit status 0 proves
nothing.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from nel.errors import DatasetError, SandboxError
from nel.sandbox.verdict.types import Mode, ProgramVerdict, VerdictName

_DETAIL_CHARACTERS_MAX: Final = 1_000
_STDERR_CHARACTERS_MAX: Final = 2_000
_NO_COMMAND: Final = 127
"""What a shell says of a missing command."""
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_NAMED_ERROR = re.compile(
    r"Uncaught |Exception in thread |panic: |thread '.*' panicked|[\w.$]*(?:Error|Exception)\b.*:"
)
"""What the runtimes of other languages write above a trace or a line with their own version."""
_OF_REASON: Final[Mapping[str, tuple[VerdictName, str]]] = {
    "cpu": ("timeout", "it used up its CPU time"),
    "idle": ("timeout", "it waited for something that never came"),
    "output": ("output_limit", "it wrote more than its output limit"),
}
_OF_PROGRAM: Final[Mapping[str, VerdictName]] = {
    "parse": "syntax_error",
    "memory": "out_of_memory",
    "too_large": "output_limit",
}


def breach_of(run: Mapping[str, Any], cpu_seconds: float) -> tuple[VerdictName, str] | None:
    """Return the verdict of a breached limit, None where none was breached.

    Raises:
        SandboxError: The machine was too busy to tell.
    """
    reason = run["reason"]
    if reason == "overloaded":
        raise SandboxError(
            "the machine is so busy that the program had no chance to run", kind="overloaded"
        )
    ending = run["ending"] or {}
    if reason == "output":
        return _OF_REASON["output"]
    if run["out_of_memory"]:
        return "out_of_memory", "it was ended for lack of memory"
    if reason is not None:
        return _OF_REASON[reason]
    if ending.get("signal") == signal.SIGXCPU or run["cpu_seconds"] > cpu_seconds:
        return _OF_REASON["cpu"]
    if ending.get("signal") == signal.SIGXFSZ:
        return "output_limit", "it wrote a file larger than its limit"
    return None


class NeedsShared(Exception):
    """Tests compare or pass what has no plain form, so that they have to share a process."""


def of_split(run: Mapping[str, Any], cpu_seconds: float) -> ProgramVerdict:
    """Return the verdict of tests in a process of their own.

    Raises:
        NeedsShared: They cannot have one.
        DatasetError: The tests themselves are of no use.
        SandboxError: The machinery failed.
    """
    result = run["tests"] if isinstance(run["tests"], Mapping) else {}
    if "broken" in result:
        raise DatasetError(str(result["broken"]))
    if "shared" in result:
        raise NeedsShared(str(result["shared"]))
    mode: Mode = "equality" if result.get("is_compared") else "split"
    verdict = _of_tests(run, mode, result, cpu_seconds)
    return replace(verdict, is_chosen=result.get("is_chosen") is True)


def _of_tests(
    run: Mapping[str, Any], mode: Mode, result: Mapping[str, Any], cpu_seconds: float
) -> ProgramVerdict:
    passed = result.get("passed") is True
    breach = breach_of(run, cpu_seconds)
    # Where nothing was stopped before the tests' end, what is left of a breach is the time that is
    # added up afterwards, or a signal to a program that nothing asks any more.
    is_after_end = passed and run["reason"] is None and not run["out_of_memory"]
    if breach is not None and not is_after_end:
        return verdict_of(run, mode, *breach)
    if passed:
        return verdict_of(run, mode, "passed", "all tests ran to their end")
    if not result:
        raise SandboxError("the process of the tests ended without a verdict", kind="tests_died")
    return _of_failure(run, mode, result)


def of_shared(run: Mapping[str, Any], cpu_seconds: float, token: str) -> ProgramVerdict:
    """Return the verdict of tests that shared the program's process; raises `SandboxError`."""
    result = run["tests"] if isinstance(run["tests"], Mapping) else {}
    breach = breach_of(run, cpu_seconds)
    if breach is not None:
        return verdict_of(run, "shared", *breach)
    ending = run["ending"] or {}
    if result.get("token") == token and ending.get("exit") == 0:
        return verdict_of(run, "shared", "passed", "all tests ran to their end")
    if "program" in result or "failed" in result:
        return _of_failure(run, "shared", result)
    detail = f"it ended before its tests did ({_describe(ending)})"
    return verdict_of(run, "shared", "runtime_error", detail)


def of_step(
    run: Mapping[str, Any],
    cpu_seconds: float,
    mode: Mode,
    *,
    syntax_error: str = "",
    assertion: str = "",
) -> ProgramVerdict | None:
    """Return the verdict of a program that ended badly, None where it ended well.

    Args:
        syntax_error: Pattern that means, in standard error, that the program could not be parsed.
        assertion: Pattern that means that a test failed; both tell failures apart, not success.

    Raises:
        SandboxError: The machinery failed.
    """
    breach = breach_of(run, cpu_seconds)
    if breach is not None:
        return verdict_of(run, mode, *breach)
    ending = run["ending"] or {}
    stderr = str(run["stderr"])
    if ending.get("exit") == 0:
        return None
    if syntax_error and re.search(syntax_error, stderr, re.MULTILINE):
        return verdict_of(run, mode, "syntax_error", _error_of(stderr))
    if assertion and (match := re.search(f"^.*(?:{assertion}).*$", stderr, re.MULTILINE)):
        return verdict_of(run, mode, "wrong", match[0].strip())
    if re.search(r"^MemoryError\b", stderr, re.MULTILINE):
        return verdict_of(run, mode, "out_of_memory", _error_of(stderr))
    detail = f"{_describe(ending)}: {_error_of(stderr)}".rstrip(": ")
    return verdict_of(run, mode, "runtime_error", detail)


def of_compile(run: Mapping[str, Any], cpu_seconds: float, mode: Mode) -> ProgramVerdict:
    """Return the verdict of a compiler that failed; raises `SandboxError` where there is none."""
    stderr = str(run["stderr"])
    ending = run["ending"] or {}
    if ending.get("exit") == _NO_COMMAND:
        raise SandboxError(f"the image has no compiler: {_last_line(stderr)}", kind="image_broken")
    breach = breach_of(run, cpu_seconds)
    if breach is not None:
        name, reason = breach
        return verdict_of(run, mode, name, f"while it was compiled: {reason}")
    output = stderr or str(run["stdout"])
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    detail = [*errors, *lines, "it does not compile"][0]
    return verdict_of(run, mode, "syntax_error", detail)


def verdict_of(
    run: Mapping[str, Any], mode: Mode, name: VerdictName, detail: str
) -> ProgramVerdict:
    """Return a verdict with what the supervisor saw."""
    return ProgramVerdict(
        verdict=name,
        mode=mode,
        detail=_shorten(_ADDRESS.sub("0x…", detail)),
        stderr=_ADDRESS.sub("0x…", str(run["stderr"]))[-_STDERR_CHARACTERS_MAX:],
        cpu_seconds=float(run["cpu_seconds"]),
        wall_seconds=float(run["wall_seconds"]),
    )


def _of_failure(run: Mapping[str, Any], mode: Mode, result: Mapping[str, Any]) -> ProgramVerdict:
    """Return the verdict of a failed assertion, or of what the program did instead of an answer."""
    text = str(result.get("text") or "").strip()
    if "failed" in result:
        name: VerdictName = "wrong"
        lines = [str(result["failed"]), text, str(result.get("last_call") or "")]
    else:
        kind = str(result["program"])
        name = _OF_PROGRAM.get(kind, "runtime_error")
        if kind == "gone":
            text = f"{text} ({_describe(run['ending'] or {})})"
        lines = [str(result.get("where") or ""), text]
    detail = "\n".join(filter(None, lines))
    return verdict_of(run, mode, name, detail)


def _describe(ending: Mapping[str, Any]) -> str:
    if ending.get("signal"):
        try:
            return f"killed by {signal.Signals(ending['signal']).name}"
        except ValueError:
            return f"killed by signal {ending['signal']}"
    return f"exit status {ending.get('exit')}"


def _shorten(text: str) -> str:
    """Return the two ends of a text: line and type of an exception stand first or last."""
    if len(text) <= _DETAIL_CHARACTERS_MAX:
        return text
    half = _DETAIL_CHARACTERS_MAX // 2
    return f"{text[:half]} … {text[-half:]}"


def _error_of(stderr: str) -> str:
    """Return the line of a traceback that names the exception; else the last line."""
    lines = stderr.splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    for line in lines[frames[-1] :] if frames else ():
        if line[:1].strip():
            return line.strip()
    return _last_line(stderr)


def _last_line(text: str) -> str:
    """Return the first line that names an error; else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if _NAMED_ERROR.match(line):
            return line
    return lines[-1] if lines else ""
