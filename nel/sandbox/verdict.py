"""From what the supervisor saw to a verdict.

Precedence: whatever is not the program's fault, then breached limits, then how the program ended, then what the tests
say. Nothing that the program wrote is read for a verdict. Exit status 0 proves nothing.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from typing import Any, Final

from nel.errors import DatasetError, SandboxError
from nel.sandbox.types import Mode, Verdict, VerdictName

_DETAIL_CHARACTERS_MAX: Final = 1_000
_STDERR_CHARACTERS_MAX: Final = 2_000
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")

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
        raise SandboxError("the machine is so busy that the program had no chance to run", kind="overloaded")
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


def of_split(run: Mapping[str, object], cpu_seconds: float) -> Verdict:
    """Return the verdict of tests in a process of their own.

    Raises:
        DatasetError: The tests themselves are of no use.
        SandboxError: The machinery failed.
    """
    said = run["tests"]
    said = said if isinstance(said, Mapping) else {}
    if "broken" in said:
        raise DatasetError(str(said["broken"]))
    breach = breach_of(run, cpu_seconds)
    if breach is not None and not (said.get("passed") and run["reason"] is None and not run["out_of_memory"]):
        return _verdict(run, "split", *breach)
    if "cannot_cross" in said:
        # The tests pass nothing of their own that has no plain form, so this is something that the program gave them.
        text = f"the program's answer leads to a value that cannot be passed back to it: {said['cannot_cross']}"
        return _verdict(run, "split", "runtime_error", "\n".join(filter(None, [str(said.get("where") or ""), text])))
    if said.get("passed") is True:
        return _verdict(run, "split", "passed", "all tests ran to their end")
    if "program" in said:
        return _verdict(run, "split", *_of_program(run, said))
    if "failed" in said:
        lines = [str(said["failed"]), str(said.get("text") or ""), str(said.get("last_call") or "")]
        return _verdict(run, "split", "wrong", "\n".join(line for line in lines if line))
    raise SandboxError("the process of the tests ended without a verdict", kind="tests_died")


def of_together(run: Mapping[str, Any], cpu_seconds: float, token: str) -> Verdict:
    """Return the verdict of tests that shared the program's process.

    What that process says of the tests may be the program's word, so it blames the program; a rehearsal comes before.

    Raises:
        SandboxError: The machinery failed.
    """
    said = run["tests"]
    said = said if isinstance(said, Mapping) else {}
    breach = breach_of(run, cpu_seconds)
    if breach is not None:
        return _verdict(run, "same_process", *breach)
    ending = run["ending"] or {}
    if said.get("token") == token and ending.get("exit") == 0:
        return _verdict(run, "same_process", "passed", "all tests ran to their end")
    if "broken" in said:
        return _verdict(run, "same_process", "runtime_error", str(said["broken"]))
    if "load" in said:
        failed = said["load"]
        kind = {"parse": "parse"}.get(failed.get("stage"), "raised")
        kind = "memory" if failed.get("type") == "MemoryError" else kind
        return _verdict(run, "same_process", *_of_program(run, {"program": kind, "text": failed.get("trace")}))
    if "program" in said:
        return _verdict(run, "same_process", *_of_program(run, said))
    if "failed" in said:
        return _verdict(run, "same_process", "wrong", f"{said['failed']}\n{said.get('text') or ''}".strip())
    return _verdict(run, "same_process", "runtime_error", f"it ended before its tests did ({_shown(ending)})")


def of_step(
    run: Mapping[str, Any], cpu_seconds: float, mode: Mode, *, syntax_error: str = "", assertion: str = ""
) -> Verdict | None:
    """Return the verdict of a program that ended badly, None where it ended well.

    Args:
        syntax_error: Pattern that means, in standard error, that an interpreter could not parse the program.
        assertion: Pattern that means that a test failed; both tell one failure from another, never from success.

    Raises:
        SandboxError: The machinery failed.
    """
    breach = breach_of(run, cpu_seconds)
    if breach is not None:
        return _verdict(run, mode, *breach)
    ending = run["ending"] or {}
    if ending.get("exit") == 0:
        return None
    if syntax_error and re.search(syntax_error, run["stderr"], re.MULTILINE):
        return _verdict(run, mode, "syntax_error", _error_of(run["stderr"]))
    if assertion and (found := re.search(f"^.*(?:{assertion}).*$", run["stderr"], re.MULTILINE)):
        return _verdict(run, mode, "wrong", found[0].strip())
    if re.search(r"^MemoryError\b", run["stderr"], re.MULTILINE):
        return _verdict(run, mode, "out_of_memory", _error_of(run["stderr"]))
    return _verdict(run, mode, "runtime_error", f"{_shown(ending)}: {_error_of(run['stderr'])}".rstrip(": "))


def of_compile(run: Mapping[str, Any], cpu_seconds: float, mode: Mode) -> Verdict:
    """Return the verdict of a compiler that failed.

    Raises:
        SandboxError: The compiler is not there, or the machinery failed.
    """
    ending = run["ending"] or {}
    if ending.get("exit") == 127:  # noqa: PLR2004 - what a shell says of a missing command
        raise SandboxError(f"the image has no compiler: {_last_line(run['stderr'])}", kind="image_broken")
    breach = breach_of(run, cpu_seconds)
    if breach is not None:
        return _verdict(run, mode, breach[0], f"while it was compiled: {breach[1]}")
    return _verdict(run, mode, "syntax_error", _first_error(run["stderr"] or run["stdout"]))


def verdict_of(run: Mapping[str, object], mode: Mode, name: VerdictName, detail: str) -> Verdict:
    """Return a verdict with what the supervisor saw."""
    return _verdict(run, mode, name, detail)


def _of_program(run: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[VerdictName, str]:
    kind = str(said["program"])
    name = _OF_PROGRAM.get(kind, "runtime_error")
    text = str(said.get("text") or "")
    if kind == "gone":
        text = f"{text} ({_shown(run['ending'] or {})})"
    where = str(said.get("where") or "")
    return name, "\n".join(part for part in (where, text.strip()) if part)


def _verdict(run: Mapping[str, Any], mode: Mode, name: VerdictName, detail: str) -> Verdict:
    return Verdict(
        verdict=name,
        mode=mode,
        detail=_shortened(_ADDRESS.sub("0x…", detail)),
        stderr=_ADDRESS.sub("0x…", str(run["stderr"]))[-_STDERR_CHARACTERS_MAX:],
        cpu_seconds=float(run["cpu_seconds"]),
        wall_seconds=float(run["wall_seconds"]),
        facts={name: run.get(name) for name in ("reason", "ending", "out_of_memory", "output_bytes", "idle_seconds")},
    )


def _shown(ending: Mapping[str, Any]) -> str:
    if ending.get("signal"):
        try:
            return f"killed by {signal.Signals(ending['signal']).name}"
        except ValueError:
            return f"killed by signal {ending['signal']}"
    return f"exit status {ending.get('exit')}"


def _shortened(text: str) -> str:
    """Return the beginning and the end of a text: line and type of an exception stand first or last."""
    if len(text) <= _DETAIL_CHARACTERS_MAX:
        return text
    half = _DETAIL_CHARACTERS_MAX // 2
    return f"{text[:half]} … {text[-half:]}"


def _error_of(stderr: str) -> str:
    """Return the line of a traceback that names the exception, however long its text is; else the last line."""
    lines = stderr.splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    for line in lines[frames[-1] :] if frames else ():
        if line[:1].strip():
            return line.strip()
    return _last_line(stderr)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    found = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "it does not compile")
    return found.strip()
