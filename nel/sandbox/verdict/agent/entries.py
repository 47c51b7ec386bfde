"""What the zygotes can be asked to run: the two processes of a verdict, and scripts."""

from __future__ import annotations

from nel.sandbox.isolation.agent import zygote
from nel.sandbox.verdict.agent import checker, shared, solution

zygote.ENTRIES.update(
    serve=lambda: solution.serve(3, 4),
    check=lambda: checker.judge(3, 4, 5),
    shared=lambda: shared.judge(3, 4),
    script=lambda: solution.run_script(3),
)
