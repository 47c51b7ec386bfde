"""One program in one container: which jobs it takes, and what their answers mean."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from nel.errors import DatasetError, SandboxError
from nel.sandbox.isolation.languages import Language
from nel.sandbox.isolation.pool import Ask
from nel.sandbox.verdict import endings
from nel.sandbox.verdict.compare import first_difference, outputs_equal
from nel.sandbox.verdict.task import Task, read_task
from nel.sandbox.verdict.types import Limits, Mode, Program, ProgramVerdict, StdinCase

_COMPILE_IDLE_SECONDS: Final = 30.0
_COMPILE_FILE_BYTES: Final = 256 << 20
_COMPILE_OUTPUT_BYTES: Final = 1 << 20
_FILES: Final = 256
OUTPUT_BYTES_MAX: Final = 32 << 20
"""Largest expected output of a case; a program may write twice what is expected, up to this."""
_OUTPUT_ROOM_BYTES: Final = 1 << 16
_HOST_PATIENCE_SECONDS: Final = 30.0
"""Beyond the longest that the supervisor may take, after which the container is given up."""


@dataclass(frozen=True, slots=True)
class ProgramJudge:
    """Judges programs of one language in one container, within limits."""

    language: Language
    limits: Limits
    ask_container: Ask

    def judge(self, program: Program) -> ProgramVerdict:
        """Run a program and return its verdict.

        Raises:
            SandboxError: The machinery failed.
            DatasetError: The tests themselves are of no use.
            ConfigError: The language has no way to run such tests.
        """
        if not program.source.strip():
            return ProgramVerdict(
                verdict="no_code", mode=mode_of(program), detail="there is no code"
            )
        if program.tests is None:
            return self._by_cases(program)
        if not self.language.has_zygote:
            return self._by_runner(program, program.tests)
        task = read_task(program.tests, program.prompt, program.entry_point)
        if task.fault:
            raise DatasetError(task.fault)
        if mode_of(program) == "shared":
            return self._run_shared(program, task)
        try:
            return self._split(program.source, task)
        except endings.NeedsShared as error:
            if program.mode == "split":
                text = f"{error}; let them share the program's process (mode: shared)"
                raise DatasetError(text) from None
            return self._run_shared(program, task)

    def _split(self, source: str, task: Task) -> ProgramVerdict:
        payload = {**task.payload(), "is_alone": not source}
        run = self._ask({"do": "split", "source": source, "task": payload})["run"]
        return endings.of_split(run, self.limits.cpu_seconds)

    def _run_shared(self, program: Program, task: Task) -> ProgramVerdict:
        token = secrets.token_hex(16)
        job = {"do": "shared", "source": program.source, "token": token, "task": task.payload()}
        verdict = endings.of_shared(self._ask(job)["run"], self.limits.cpu_seconds, token)
        if not verdict.passed:
            # What the tests do without a program, no program has a say in.
            _raise_fault(lambda: self._split("", task))
        return verdict

    def _by_runner(self, program: Program, tests: str) -> ProgramVerdict:
        """Judge tests in the program's own language, which define ``check``."""
        if re.search(r"\bcheck\b", tests) is None:
            raise DatasetError("the tests define no function check")
        verdict = self._run_framed(program.source, tests)
        if verdict.verdict == "syntax_error" and not self.language.compile:
            _raise_fault(lambda: self._run_framed("", tests))
        return verdict

    def _run_framed(self, source: str, tests: str) -> ProgramVerdict:
        """Run a program and its tests in one frame that gives a secret back after the last test."""
        token = secrets.token_hex(16)
        language = self.language
        reply = self._ask({**self._command_job(language.frame(source, tests)), "token": token})
        if "run" not in reply:
            return endings.of_compile(reply["compile"], self.limits.compile_seconds, "shared")
        patterns = {"syntax_error": language.syntax_error, "assertion": language.assertion}
        run = reply["run"]
        fault = endings.of_step(run, self.limits.cpu_seconds, "shared", **patterns)
        if fault is not None:
            return fault
        if run.get("token") == token:
            return endings.verdict_of(run, "shared", "passed", "all tests ran to their end")
        return endings.verdict_of(run, "shared", "runtime_error", "it ended before its tests did")

    def _by_cases(self, program: Program) -> ProgramVerdict:
        """Judge by inputs and outputs; the first case that is not right decides."""
        if not program.cases:
            raise DatasetError("the problem has neither tests nor cases")
        total = 0.0
        is_built = False
        verdict: ProgramVerdict
        for number, case in enumerate(program.cases):
            job = {
                **self._case_job(program, is_built=is_built),
                "stdin": case.stdin,
                "keep_output": True,
            }
            reply = self._ask(job, output_bytes=self._room_for(case))
            is_built = reply.get("is_kept") is True
            verdict = self._of_case(program, reply, case)
            total += verdict.cpu_seconds
            # The verdict of this case stands for the program's, with the time of this case alone.
            if not verdict.passed:
                case_name = f"case {number + 1} of {len(program.cases)}"
                return replace(verdict, detail=f"{case_name}: {verdict.detail}")
        return replace(verdict, detail=f"{len(program.cases)} cases", cpu_seconds=total)

    def _of_case(
        self, program: Program, reply: Mapping[str, Any], case: StdinCase
    ) -> ProgramVerdict:
        if "run" not in reply:
            return endings.of_compile(reply["compile"], self.limits.compile_seconds, "outside")
        run, pattern, mode = reply["run"], self.language.syntax_error, mode_of(program)
        fault = endings.of_step(run, self.limits.cpu_seconds, mode, syntax_error=pattern)
        if fault is not None:
            return fault
        if outputs_equal(run["stdout"], case.expected_output, rule=program.compare):
            return endings.verdict_of(run, mode, "passed", "")
        difference = first_difference(run["stdout"], case.expected_output)
        verdict = endings.verdict_of(run, mode, "wrong", difference)
        return replace(verdict, stdout=str(run["stdout"])) if mode == "shared" else verdict

    def _room_for(self, case: StdinCase) -> int:
        """Return how many bytes a program may write.

        Raises:
            DatasetError: The expected output is larger than any may be.
        """
        n_bytes = len(case.expected_output.encode("utf-8", "surrogatepass"))
        if n_bytes > OUTPUT_BYTES_MAX:
            raise DatasetError(
                f"an expected output of {n_bytes} bytes; at most {OUTPUT_BYTES_MAX} are compared"
            )
        room_bytes = min(2 * n_bytes, OUTPUT_BYTES_MAX) + _OUTPUT_ROOM_BYTES
        return max(self.limits.output_bytes, room_bytes)

    def _case_job(self, program: Program, *, is_built: bool) -> dict[str, Any]:
        """Return the job of one case, with what the compiler made and nothing of others."""
        if self.language.has_zygote:
            return {"do": "script", "source": program.source}
        job = self._command_job({self.language.source: self.language.complete(program.source)})
        if is_built:
            return {**job, "files": {}, "compile": [], "uses_built": True}
        return {**job, "keep_built": len(program.cases) > 1}

    def _command_job(self, files: Mapping[str, str]) -> dict[str, Any]:
        language = self.language
        compiling = self._limits(
            self.limits.compile_seconds, _COMPILE_IDLE_SECONDS, _COMPILE_OUTPUT_BYTES
        )
        return {
            "do": "commands",
            "files": dict(files),
            "compile": list(language.compile),
            "compile_limits": {
                **compiling,
                "file_bytes": _COMPILE_FILE_BYTES,
                "processes": language.processes,
            },
            "command": list(language.run),
        }

    def _ask(self, job: dict[str, Any], *, output_bytes: int | None = None) -> Mapping[str, Any]:
        limits = self.limits
        run_limits = self._limits(
            limits.cpu_seconds, limits.idle_seconds, output_bytes or limits.output_bytes
        )
        patience: float = run_limits["wall_seconds_max"] + _HOST_PATIENCE_SECONDS
        if job.get("compile"):
            patience += job["compile_limits"]["wall_seconds_max"]
        return self.ask_container({**job, "limits": run_limits}, patience)

    def _limits(self, cpu_seconds: float, idle_seconds: float, output_bytes: int) -> dict[str, Any]:
        """Return the limits of one process; twenty times its time, and the machine is too busy."""
        return {
            "cpu_seconds": cpu_seconds,
            "idle_seconds": idle_seconds,
            "wall_seconds_max": 20 * (cpu_seconds + idle_seconds) + 60,
            "output_bytes": output_bytes,
            "file_bytes": self.limits.file_bytes,
            "processes": self.limits.processes,
            "files": _FILES,
            "environment": dict(self.language.environment),
        }


def _raise_fault(run_alone: Callable[[], ProgramVerdict]) -> None:
    """Raise `DatasetError` where tests do not parse, or fail by themselves, without the program."""
    try:
        alone = run_alone()
    except endings.NeedsShared:
        return
    except SandboxError as error:
        if error.kind != "tests_died":
            raise
        raise DatasetError("the tests end their own process") from None
    if alone.verdict == "syntax_error":
        raise DatasetError(f"the tests do not parse: {alone.detail}")


def mode_of(program: Program) -> Mode:
    """Return which mode judges a program first: by its task's text alone."""
    if program.tests is None:
        return "shared" if program.mode == "shared" else "outside"
    if program.language != "python" or program.mode == "shared":
        return "shared"
    if program.mode == "split":
        return "split"
    task = read_task(program.tests, program.prompt, program.entry_point)
    return "shared" if task.shared else "split"
