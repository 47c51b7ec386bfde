"""Tells the end of a container from the end of a command in it, by the engine's account. No I/O.

The engine reports "running" for a moment after a container was killed, so callers ask repeatedly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nel.types import JsonObject

CONTAINER_DIED: Final = "container_died"
CONTAINER_PAUSED: Final = "container_paused"
ENGINE: Final = "engine"
DISK_FULL: Final = "disk_full"
IMAGE: Final = "image"
SETUP: Final = "setup"
"""Kinds of fault of a session."""
KIND_OF_SANDBOX: Final[Mapping[str, str]] = {
    "no_engine": ENGINE, "engine": ENGINE, "no_limits": ENGINE, "disk_full": DISK_FULL,
    "no_image": IMAGE, "build_failed": IMAGE,
}  # fmt: skip
"""The kind of an episode's fault by the kind of a `nel.errors.SandboxError`."""
_OOM_SECONDS: Final = 1
"""At most this between the kernel's report and the container's end; else the kernel had killed
another of its processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostMortem:
    """Why a session cannot go on."""

    kind: str
    detail: str


def post_mortem(
    state: JsonObject | None, events: Sequence[JsonObject], started_at: str
) -> PostMortem | None:
    """Return how a container ended; None while it runs.

    Args:
        state: Its ``State`` by the engine; None where there is no such container.
        events: Its last events by the engine, the oldest first.
        started_at: The ``StartedAt`` that the engine reported at its start.
    """
    if state is not None and state.get("Paused"):
        return PostMortem(kind=CONTAINER_PAUSED, detail="the container is paused")
    if state is not None and state.get("Running") and not state.get("Dead"):
        if state.get("StartedAt") == started_at:
            return None
        detail = "the container was started again, without the processes that it had"
        return PostMortem(kind=CONTAINER_DIED, detail=detail)
    return PostMortem(kind=CONTAINER_DIED, detail=f"the container {_how(state, events)}")


def _how(state: JsonObject | None, events: Sequence[JsonObject]) -> str:
    times = {event.get("Action"): int(event.get("time") or 0) for event in events}
    deaths = [event for event in events if event.get("Action") == "die"]
    code = None if state is None else state.get("ExitCode")
    if deaths:
        code = deaths[-1].get("Actor", {}).get("Attributes", {}).get("exitCode", code)
    if "oom" in times:
        died_at = times.get("die", times["oom"])
        if abs(died_at - times["oom"]) <= _OOM_SECONDS:
            return f"was killed for memory (exit code {code})"
    if "kill" in times:
        return f"was killed from outside (exit code {code})"
    return "was removed" if code is None else f"ended with exit code {code}"
