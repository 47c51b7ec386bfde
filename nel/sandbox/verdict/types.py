"""The words of the sandbox: a program, its limits, and what came of running it. Does no I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from nel.config.schema import SandboxConfig as SandboxSettings
from nel.config.schema import SandboxLimits as Limits
from nel.errors import SandboxError

__all__ = [
    "Limits",
    "Mode",
    "Program",
    "ProgramVerdict",
    "SandboxSettings",
    "StdinCase",
    "VerdictName",
]

VerdictName: TypeAlias = Literal[
    "passed",
    "wrong",
    "runtime_error",
    "syntax_error",
    "timeout",
    "out_of_memory",
    "output_limit",
    "no_code",
]
"""What a program can come to; faults of the machinery are a `SandboxError` instead."""

Mode: TypeAlias = Literal["outside", "split", "equality", "shared"]
"""How a verdict was made; decided by what the tests hold, and not by the program.

``outside``: input in, output out, compared outside the container, which expected outputs never
enter.
``split``: tests and program in two processes of two users; values cross, and nothing else.
``equality``: as ``split``, but tests compared objects of the program, which say themselves whether
they are equal.
``shared``: tests in the program's process. Not proof against a program that attacks its tests.
"""

ModeWish: TypeAlias = Literal["auto", "split", "shared"]

PASSED: Final = "passed"
UNPROVEN: Final = frozenset(("equality", "shared"))
"""Modes in which a program can forge its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinCase:
    """One input of a stdin/stdout problem and the output that is right."""

    stdin: str
    expected_output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program and how it is judged: by tests, or by inputs and outputs."""

    source: str
    language: str = "python"
    tests: str | None = None
    """Code that asserts; may define ``check(candidate)``, which is called with the entry point."""
    entry_point: str = ""
    """The function under test."""
    prompt: str = ""
    """The code to complete; tests may use its imports and helper functions."""
    cases: tuple[StdinCase, ...] = ()
    """Instead of tests: all must give the expected output. In the mode ``shared`` the program holds
    its tests, and what it wrote stands in the verdict.
    """
    compare: Literal["lines", "exact", "tokens", "floats"] = "lines"
    """How outputs are compared, see `nel.sandbox.verdict.compare.outputs_equal`."""
    mode: ModeWish = "auto"
    """``auto``: ``split`` for Python tests that allow it. The program's answer never decides it."""
    limits: Limits | None = None
    """None: the sandbox's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramVerdict:
    """What came of a program."""

    verdict: VerdictName
    mode: Mode
    detail: str = ""
    """The failing assertion, the exception or the first difference, for people."""
    stderr: str = ""
    """The end of standard error."""
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    stdout: str = ""
    """Of a program that holds its own tests."""
    is_chosen: bool = False
    """Whether it is the answer, and not the tests, for which the mode is ``equality``."""

    @property
    def passed(self) -> bool:
        """Return whether the program is right."""
        return self.verdict == PASSED

    def proven(self, *, is_required: bool) -> ProgramVerdict:
        """Return this verdict; raise `SandboxError` where it is not proof and must be.

        Failures are left out as passes are: else those of them that count would be the rest.
        Where the answer chose the mode it is wrong, since it must not choose to be left out.
        """
        if is_required and self.is_chosen:
            detail = self.detail
            if self.passed:
                detail = "an object of the program, and not its value, says that it is right"
            return replace(self, verdict="wrong", detail=detail)
        if is_required and self.mode in UNPROVEN:
            text = (
                "the tests share the program's process, or ask its own objects whether they are"
                " equal, which is not proof against a program that attacks them"
            )
            raise SandboxError(text, kind="shared_verdict")
        return self
