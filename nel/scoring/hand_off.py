"""Verdicts that are made elsewhere: by a judge or in a sandbox. Makes none itself.

Trap: until the judge or the sandbox has spoken there is no score; a run without one leaves the sample unscored.
"""

from __future__ import annotations

from typing import Any

from nel.errors import SandboxError
from nel.types import ScorerInput


def code_sandbox(sample: ScorerInput) -> dict[str, Any]:
    """Hand a program over to the run's sandbox, where its tests decide.

    Raises:
        SandboxError: There is no sandbox here; the sample is unscored, never wrong.

    >>> code_sandbox(ScorerInput(response="print(1)", target="main"))
    Traceback (most recent call last):
        ...
    nel.errors.SandboxError: the program cannot be run: this run has no sandbox
    """
    if sample.sandbox is None:
        raise SandboxError("the program cannot be run: this run has no sandbox")
    return dict(sample.sandbox.run(sample))


def needs_judge(sample: ScorerInput) -> dict[str, Any]:
    """Hand a sample over to the run's judge.

    Returns:
        ``correct`` false and ``needs_judge`` true, as other tools expect; nel never counts the first.

    >>> needs_judge(ScorerInput(response="Paris", target="Paris"))
    {'correct': False, 'needs_judge': True}
    """
    _ = sample
    return {"correct": False, "needs_judge": True}
