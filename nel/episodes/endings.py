"""How an episode ends other than by its solver's return. All but `AttemptOver` keep what was done.

They derive from BaseException, so that ``except Exception`` in a solver does not swallow them; the
episode raises the same one again for whatever a solver does afterwards.
"""

from __future__ import annotations

import asyncio
import ctypes
from typing import Any

from nel.types import Response


class EpisodeEnding(BaseException):
    """The episode is over."""


class LimitReached(EpisodeEnding):
    """A limit ended it; the final state is verified and scored."""

    def __init__(self, name: str, value: float) -> None:
        """Name the limit and its value."""
        super().__init__(f"the limit {name}: {value:g} is reached")
        self.name = name
        self.value = value


class ModelFailed(EpisodeEnding):
    """The model's server refused a step for what the model made of it, e.g. a full context."""

    def __init__(self, response: Response) -> None:
        """Keep the response that says so."""
        super().__init__(response.error.message if response.error else "")
        self.response = response


class EndpointLost(EpisodeEnding):
    """The endpoint gave no usable answer after all retries; the sample is unscored."""

    def __init__(self, response: Response, body: bytes) -> None:
        """Keep the response that says why, and the body that it answers."""
        super().__init__(response.error.message if response.error else "")
        self.response = response
        self.body = body


class EnvironmentFault(EpisodeEnding):
    """The environment, a tool's own code or the solver is at fault; the sample is unscored."""

    def __init__(self, kind: str, detail: str) -> None:
        """Name the kind, a short stable word."""
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class SessionOver(EpisodeEnding):
    """The session ends, or cannot store the step; a resume goes on from the last one."""

    def __init__(self, error: BaseException) -> None:
        """Keep what ends the session."""
        super().__init__(str(error))
        self.error = error


class AttemptOver(EpisodeEnding):
    """This attempt cannot be continued from its stored steps: the next one begins."""

    def __init__(self, reason: str, *, is_counted: bool = True) -> None:
        """Say why, and whether it counts to the limit of restarts."""
        super().__init__(reason)
        self.reason = reason
        self.is_counted = is_counted


def leave_suspended(task: asyncio.Task[Any] | None) -> None:
    """Have the event loop not wait for a task at its end, since it cannot be cancelled, and never
    destroy it, since that raises in it once more.
    """
    if task is not None:
        # `asyncio.run` cancels the tasks that it finds registered, and waits for them.
        asyncio.tasks._unregister_task(task)  # noqa: SLF001 - documented for event loops
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(task))
