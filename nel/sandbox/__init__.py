"""Runs untrusted programs in hardened Docker containers and says what came of them.

    from nel.sandbox import Program, Sandbox

    with Sandbox() as sandbox:
        verdict = sandbox.run(Program(source="def f(x): return 2 * x", tests="assert f(2) == 4", entry_point="f"))
        verdict.passed, verdict.verdict, verdict.mode

Images are built once with ``nel sandbox build``.
"""

from __future__ import annotations

from nel.sandbox.engine import OUTAGES
from nel.sandbox.pool import Sandbox
from nel.sandbox.types import Case, Limits, Mode, Program, SandboxSettings, Verdict, VerdictName

__all__ = ["OUTAGES", "Case", "Limits", "Mode", "Program", "Sandbox", "SandboxSettings", "Verdict", "VerdictName"]
