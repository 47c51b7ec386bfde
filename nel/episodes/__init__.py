"""Episodes: samples that are answered in many steps, by a solver that asks the model and calls tools.

async def solve(sample, episode):
    reply = await episode.ask()
    while reply.calls:
        await episode.call_all(reply.calls)
        reply = await episode.ask()
    return reply.text
"""

from nel.episodes.episode import Episode, Reply
from nel.episodes.limits import Limits
from nel.episodes.solvers import BoundSolver, Solver

__all__ = ["BoundSolver", "Episode", "Limits", "Reply", "Solver"]
