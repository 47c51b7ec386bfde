"""Episodes: samples answered in many steps, by a solver that asks the model and calls tools::

    async def solve(sample, episode):
        reply = await episode.ask()
        while reply.calls:
            await episode.call_all(reply.calls)
            reply = await episode.ask()
        return reply.text

The names below are imported when they are used, since most runs have no episodes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nel.episodes.endings import EnvironmentFault
    from nel.episodes.episode import Episode
    from nel.episodes.limits import Limits
    from nel.episodes.replies import Reply
    from nel.episodes.solver_names import BoundSolver, Solver

_HOME = {
    "BoundSolver": "nel.episodes.solver_names",
    "EnvironmentFault": "nel.episodes.endings",
    "Episode": "nel.episodes.episode",
    "Limits": "nel.episodes.limits",
    "Reply": "nel.episodes.replies",
    "Solver": "nel.episodes.solver_names",
}

__all__ = ["BoundSolver", "EnvironmentFault", "Episode", "Limits", "Reply", "Solver"]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'nel.episodes' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
