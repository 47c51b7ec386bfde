"""The types of the sandbox: a program, its limits, and the verdict on it. Does no I/O."""

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
"""Verdicts on a program; faults of the machinery raise a `SandboxError` instead."""

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
    """The verdict on a program, and how it was reached."""

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
    """Whether the answer, and not the tests, is why the mode is ``equality``."""

    @property
    def passed(self) -> bool:
        """Return whether the program is right."""
        return self.verdict == PASSED

    def proven(self, *, is_required: bool) -> ProgramVerdict:
        """Return this verdict; raise `SandboxError` where proof is required and it is none.

        Failures without proof raise as passes do: were only passes left out, the rate of passes
        among the rest would be too low. An answer that chose its mode is wrong instead, since it
        must not be able to choose to be left out.
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
