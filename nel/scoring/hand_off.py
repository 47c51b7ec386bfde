"""A verdict that is made elsewhere: by a judge. Makes none itself.

Trap: until the judge has spoken there is no score; a run without one leaves the sample unscored.
"""

from __future__ import annotations

from typing import Any

from nel.types import ScorerInput


def needs_judge(sample: ScorerInput) -> dict[str, Any]:
    """Hand a sample over to the run's judge.

    Returns:
        ``correct`` false and ``needs_judge`` true, as other tools expect; nel never counts the first.

    >>> needs_judge(ScorerInput(response="Paris", target="Paris"))
    {'correct': False, 'needs_judge': True}
    """
    _ = sample
    return {"correct": False, "needs_judge": True}
