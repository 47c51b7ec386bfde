"""Runs untrusted programs in hardened Docker containers and says what came of them.

    from nel.sandbox import Program, Sandbox

    program = Program(
        source="def f(x): return 2 * x", tests="assert f(2) == 4", entry_point="f"
    )
    with Sandbox() as sandbox:
        verdict = sandbox.run(program)
        verdict.passed, verdict.verdict, verdict.mode

`isolation` contains programs, `verdict` says what their runs mean; the former imports nothing of
the latter. Images are built once with ``nel sandbox build``.
"""

from __future__ import annotations

from nel.sandbox.isolation.engine import OUTAGES
from nel.sandbox.verdict.sandbox import Sandbox
from nel.sandbox.verdict.types import (
    Limits,
    Mode,
    Program,
    ProgramVerdict,
    SandboxSettings,
    StdinCase,
    VerdictName,
)

__all__ = [
    "OUTAGES",
    "Limits",
    "Mode",
    "Program",
    "ProgramVerdict",
    "Sandbox",
    "SandboxSettings",
    "StdinCase",
    "VerdictName",
]
