"""One program in one container: which jobs it takes, and what their answers mean.

Which mode judges a program is decided by its task alone, before it runs.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from nel.errors import DatasetError
from nel.sandbox import verdict as verdicts
from nel.sandbox.compare import first_difference, outputs_equal
from nel.sandbox.controls import missing_judge, parse_fault, stand_in, turned_text, wrong_programs
from nel.sandbox.languages import Language
from nel.sandbox.rehearsals import Rehearsal, Rehearsals
from nel.sandbox.task import Task, read_task
from nel.sandbox.turned import turned_around
from nel.sandbox.types import Case, Limits, Program, Verdict

Ask = Callable[[dict[str, Any], float], Mapping[str, Any]]
"""Has a job done within so many seconds."""

_COMPILE_IDLE_SECONDS: Final = 30.0
_COMPILE_FILE_BYTES: Final = 256 << 20
_FILES: Final = 256
OUTPUT_BYTES_MAX: Final = 32 << 20
"""Largest expected output of a case; the room for a program's own is twice what is expected, up to this."""
_OUTPUT_ROOM_BYTES: Final = 1 << 16
_HOST_PATIENCE_SECONDS: Final = 30.0
_CONTROL_SECONDS: Final = 1.0
_FORGED: Final = "it passes whatever the tests assert, and their opposite, too"
_TIMES_TURNED: Final = 3
"""How often a program has to pass tests turned around, since a random answer may once."""
_NOT_PARSED: Final = re.compile(r"^(?:SyntaxError: |[\w.]+: .*(?:\bsyntax error\b|\bunexpected EOF\b))", re.MULTILINE)
"""What an interpreter says of tests, in standard error."""


def judge(program: Program, language: Language, limits: Limits, ask: Ask, rehearsals: Rehearsals) -> Verdict:
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
        return _by_runner(program, language, limits, ask, rehearsals)
    task = read_task(program.tests, program.prompt, program.entry_point)
    if task.broken:
        raise DatasetError(task.broken)

    def rehearse(*, shares_process: bool = False) -> Rehearsal:
        return rehearsals.of(task, limits, lambda job: _asked(limits, ask, job), shares_process=shares_process)

    is_split = program.mode == "split" or (program.mode == "auto" and not task.needs_same_process)
    if is_split and not task.crosses and (reason := rehearse().cannot_cross):
        if program.mode == "split":
            raise DatasetError(f"the tests cannot run apart from the program: {reason}; use the mode same_process")
        is_split = False
    if is_split:
        verdict = _split(program, task, limits, ask, rehearse)
    else:
        verdict = _together(program, task, limits, ask, partial(rehearse, shares_process=True))
    if verdict.passed and not is_split and _is_forged(program, task, limits, ask):
        return replace(verdict, verdict="wrong", detail=_FORGED)
    if verdict.passed and not task.can_fail:
        short = limits.model_copy(update=_for_controls(limits))
        if rehearsals.check_nothing(task, lambda job: _asked(short, ask, job), shares_process=not is_split):
            raise DatasetError("the tests pass whatever the program returns")
    return verdict


def _for_controls(limits: Limits) -> dict[str, float]:
    """Return the limits of tests against wrong programs, which they may well wait for."""
    return {
        "cpu_seconds": min(_CONTROL_SECONDS, limits.cpu_seconds),
        "idle_seconds": min(_CONTROL_SECONDS, limits.idle_seconds),
    }


def _split(program: Program, task: Task, limits: Limits, ask: Ask, rehearse: Callable[[], Rehearsal]) -> Verdict:
    job = {"do": "split", "source": program.source, "task": task.payload(shares_process=False)}
    run = _asked(limits, ask, job)["run"]
    said = run["tests"] if isinstance(run["tests"], Mapping) else {}
    if "lines" in said and task.is_own(said["lines"], said["position"], shares_process=False):
        raise DatasetError(str(said["shown"]))
    breach = verdicts.breach_of(run, limits.cpu_seconds)
    if not said or (breach is not None and not said.get("passed")):
        rehearse().raise_for(breach)
    if said.get("passed") and (missed := sorted(set(task.owed) - set(said["reached"]))):
        raise DatasetError(f"the tests end without having reached the assertion of line {missed[0]}")
    return verdicts.of_split(run, limits.cpu_seconds)


def _together(program: Program, task: Task, limits: Limits, ask: Ask, rehearse: Callable[[], Rehearsal]) -> Verdict:
    token = secrets.token_hex(16)
    job = {"do": "together", "source": program.source, "token": token, "task": task.payload(shares_process=True)}
    run = _asked(limits, ask, job)["run"]
    said = run["tests"] if isinstance(run["tests"], Mapping) else {}
    breach = verdicts.breach_of(run, limits.cpu_seconds)
    if (
        breach is not None
        or not said
        or "broken" in said
        or "forked" in said
        or (
            "lines" in said
            and task.is_own(_numbers(said["lines"]), _numbers(said.get("position")), shares_process=True)
        )
    ):
        # The program can say what it likes in this mode; what the tests do without it, it cannot.
        rehearse().raise_for(breach)
    return verdicts.of_together(run, limits.cpu_seconds, token)


def _is_forged(program: Program, task: Task, limits: Limits, ask: Ask) -> bool:
    """Return whether a program that passed tests in its own process passes them turned around, too, each time."""
    if task.apart is None:
        return False
    has_classes = bool(task.classes or task.prompt_classes)
    for tests in turned_around(task.tests, task.owed, task.apart, has_classes=has_classes):
        turned = read_task(tests, task.prompt, task.entry_point)
        if all(_passes_together(program, turned, limits, ask) for _ in range(_TIMES_TURNED)):
            return True
    return False


def _passes_together(program: Program, task: Task, limits: Limits, ask: Ask) -> bool:
    token = secrets.token_hex(16)
    job = {"do": "together", "source": program.source, "token": token, "task": task.payload(shares_process=True)}
    return verdicts.of_together(_asked(limits, ask, job)["run"], limits.cpu_seconds, token).passed


def _numbers(said: object) -> list[int]:
    return [one for one in said if type(one) is int] if isinstance(said, list) else []


def _by_runner(program: Program, language: Language, limits: Limits, ask: Ask, rehearsals: Rehearsals) -> Verdict:
    """Judge tests in the program's own language.

    Raises:
        DatasetError: They define no ``check``, or pass or do not parse without a program.
    """
    tests = program.tests or ""
    if re.search(r"\bcheck\b", tests) is None:
        raise DatasetError("the tests define no function check")
    framed = partial(_framed, language=language, limits=limits, ask=ask)
    verdict = framed(program.source, tests)
    if verdict.passed or verdict.verdict == "syntax_error" or not language.compile:
        key = (language.name, tests, program.entry_point)
        fault = rehearsals.fault_of(key, lambda: _fault_alone(framed("", tests), program.entry_point))
        stub = "" if verdict.passed or fault else stand_in(language.name, program.entry_point)
        if stub:
            fault = rehearsals.fault_of((*key, "stub"), lambda: _fault_with(framed(stub, tests), program))
        if fault:
            raise DatasetError(fault)
    if not verdict.passed:
        return verdict
    idle = rehearsals.fault_of((language.name, tests, program.entry_point, "control"), lambda: _idle(program, framed))
    if idle:
        raise DatasetError(idle)
    turned = turned_text(language.name, tests, program.source)
    if turned is not None and all(framed(program.source, turned).passed for _ in range(_TIMES_TURNED)):
        return replace(verdict, verdict="wrong", detail=_FORGED)
    return verdict


def _idle(program: Program, framed: Callable[[str, str], Verdict]) -> str:
    """Return that tests pass whatever is wrong with a program, so far as the wrong ones compile; else nothing."""
    tests = program.tests or ""
    is_tried = False
    for wrong in wrong_programs(program.language, program.entry_point, tests):
        found = framed(wrong, tests).verdict
        if found not in ("passed", "syntax_error"):
            return ""
        is_tried = is_tried or found == "passed"
    return "the tests pass whatever the program returns" if is_tried else ""


def _fault_alone(verdict: Verdict, entry_point: str) -> str:
    """Return what is wrong with tests, by what came of them without a program."""
    if verdict.passed:
        return "the tests pass without a program"
    if fault := _parse_fault(verdict, entry_point):
        return fault
    if _NOT_PARSED.search(verdict.stderr):
        return f"the tests do not parse: {verdict.detail}"
    return ""


def _fault_with(verdict: Verdict, program: Program) -> str:
    """Return what is wrong with tests, by what a compiler says of them with a program that stands in for others."""
    judge = missing_judge(verdict.stderr, program.entry_point, program.tests or "")
    if judge and re.search(rf"\b{judge}\b", program.prompt) is None:
        return f"the tests use {judge}, which neither they nor the prompt define"
    return _parse_fault(verdict, program.entry_point)


def _parse_fault(verdict: Verdict, entry_point: str) -> str:
    fault = parse_fault(verdict.stderr, entry_point)
    return f"the tests do not parse: {fault}" if fault else ""


def _framed(source: str, tests: str, language: Language, limits: Limits, ask: Ask) -> Verdict:
    """Run a program and its tests in one frame that gives a token back after the last test."""
    token = secrets.token_hex(16)
    job = _command_job(limits, language, language.framed(source, tests))
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
    is_built = False
    for number, case in enumerate(program.cases):
        job = {**_case_job(program, language, limits, is_built=is_built), "stdin": case.stdin, "keep_output": True}
        reply = _asked(_room_for(limits, case), ask, job)
        is_built = reply.get("is_kept") is True
        verdict = _of_case(program, language, limits, reply, case)
        total += verdict.cpu_seconds
        if not verdict.passed:
            return replace(verdict, detail=f"case {number + 1} of {len(program.cases)}: {verdict.detail}")
    assert verdict is not None  # noqa: S101 - there is a case
    return replace(verdict, detail=f"{len(program.cases)} cases", cpu_seconds=total)


def _room_for(limits: Limits, case: Case) -> Limits:
    """Return limits that leave room for the expected output.

    Raises:
        DatasetError: It is larger than any output may be.
    """
    expected = len(case.expected_output.encode("utf-8", "surrogatepass"))
    if expected > OUTPUT_BYTES_MAX:
        raise DatasetError(
            f"an expected output of {expected} bytes is larger than any may be ({OUTPUT_BYTES_MAX} bytes)"
        )
    needed = min(2 * expected + _OUTPUT_ROOM_BYTES, OUTPUT_BYTES_MAX + _OUTPUT_ROOM_BYTES)
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


def _case_job(program: Program, language: Language, limits: Limits, *, is_built: bool) -> dict[str, object]:
    """Return the job of one case; it finds what the compiler made, and nothing of the other cases."""
    if language.has_zygote:
        return {"do": "script", "source": program.source}
    job = _command_job(limits, language, {language.source: language.completed(program.source)})
    if is_built:
        return {**job, "files": {}, "compile": [], "uses_built": True}
    return {**job, "keep_built": len(program.cases) > 1}


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
