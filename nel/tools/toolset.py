"""Tools with state: methods of one object that is made for each episode."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

from nel.config.schema import SandboxConfig
from nel.errors import ConfigError
from nel.tools.declaration import Tool
from nel.tools.results import ToolsetFault
from nel.types import Json, JsonObject, Sample, value_class

Environment: TypeAlias = "Callable[[Sample], Toolset]"
"""Makes the object of one episode."""
Resume: TypeAlias = Literal["replay", "snapshot", "restart"]
"""How a resume comes back to the state of an environment."""


@value_class(kw_only=True)
class StepAddress:
    """Which step of which run; a snapshot bears it."""

    log: str
    """The run's run.db."""
    episode: str
    """The numbers of benchmark, sample and repeat."""
    attempt: int
    number: int


SNAPSHOT: Final = "snapshot"
"""Kind of fault where no snapshot leads back to a state."""


class Toolset:
    """The state that the tools of one episode act on; its methods with ``@tool`` are the tools.

    A subclass is made once for each episode, with the sample, in a process of the episode's own.
    """

    resume: Resume = "replay"
    """``replay`` runs the stored calls again on a new object, and each result must equal the stored
    one; ``snapshot`` makes the object from what its `snapshot` named last; ``restart`` begins the
    episode again. A method that is declared ``on_interrupt="tell"`` acts outside the object and is
    not run again.
    """
    call_seconds: float | None = None
    """What is left for the call that runs, set before each; None without a limit."""

    def __init__(self, sample: Sample) -> None:
        """Set up the state for a sample, which has no gold answer."""
        self.sample = sample

    def tools(self) -> Sequence[Tool]:
        """Return the tools that are offered now; those of the class, unless overridden.

        One called `nel.tools.ANY_NAME` is not offered: it runs the calls of every other name, for
        rules that have calls run which the model was not offered. A call's `Tool.run` is that of a
        copy with the call's name.
        """
        return [getattr(self, name) for name in _names_of_tools(type(self))]

    def on_turn(self, turn: int) -> None:
        """Prepare the state for a turn of the user, counted from 0; nothing by default."""

    def close(self) -> None:
        """Release what the object holds outside its process, such as a container, once the episode
        or the session is over; nothing by default. After a kill of the run it is not called.
        """

    def snapshot(self, step: StepAddress) -> str:
        """Return a name of what holds the state after a step, for `EnvironmentMaker.reopen`.

        Raises:
            ToolsetFault: Nothing can hold it; a resume from this step begins the episode again.
        """
        raise ToolsetFault(SNAPSHOT, "the environment has no snapshots")

    def run_program(self, request: JsonObject) -> JsonObject:
        """Run an agent of others in the object's world to its end, as `nel.environments` does."""
        raise ToolsetFault("agent_setup", "the benchmark's environment runs no agents of others")

    def stop_program(self) -> None:
        """Have the agent killed; nothing by default."""

    def next_stage(self) -> JsonObject | None:
        """Begin the next stage of a task of several, each of which is a conversation of its own:
        return its ``instruction`` and ``work_seconds``; None where there is none, the default.
        Only the object of an `EnvironmentMaker` is asked.
        """
        return None

    def evidence(self) -> Json:
        """Return what a scorer needs to know of the final state, as JSON; None by default."""
        return None


class EnvironmentMaker:
    """Makes the objects of episodes whose world lies outside their process, such as a container."""

    resume: Resume = "restart"
    """Of its objects; after ``snapshot`` the snapshots of an episode that is over are forgotten."""
    setup_seconds: float = 60.0
    """For an object to be made."""
    evidence_seconds: float = 60.0
    """For it to say what its final state is."""
    grace_seconds: float = 0.0
    """Beyond a call's own limit, which the object keeps to by itself where this is not 0."""

    def __call__(self, sample: Sample) -> Toolset:
        """Return the object of one episode; called in the process of its tools."""
        raise NotImplementedError

    def reopen(self, sample: Sample, snapshot: str, step: StepAddress) -> Toolset:
        """Return the object of an episode in the state of a snapshot; called as `__call__`.

        Raises:
            ToolsetFault: The snapshot is gone, or is not that of this step (``snapshot``).
        """
        raise ToolsetFault(SNAPSHOT, "the environment has no snapshots")

    def forget(self, step: StepAddress) -> None:
        """Remove the snapshots of a step's episode, which is over; called in the run's process."""

    def identity(self) -> JsonObject:
        """Return what an episode's outcome depends on beside the sample and the code."""
        return {}

    def with_sandbox(self, settings: SandboxConfig) -> EnvironmentMaker:
        """Return it with a run's settings of the container engine."""
        return self

    def prepare(self, samples: Sequence[Sample], log: Callable[[str], None]) -> list[str]:
        """Get what episodes of these samples need, before the first request; return notes.

        Args:
            samples: Those that have no answer yet.
            log: Gets a line on what is done now.

        Raises:
            SandboxError: Nothing can be had, for any of them.
        """
        return []

    def release(self) -> None:
        """Remove what killed processes of episodes have left, once none is left of a run."""

    def check(self, sample: Sample) -> None:
        """Raise ToolsetFault where `prepare` failed for a sample; called in the run's process."""


def tools_of(environment: type[Toolset] | Callable[[Sample], Toolset] | None) -> list[Tool]:
    """Return the tools that a class of environments declares; empty where only its objects know."""
    if not (inspect.isclass(environment) and issubclass(environment, Toolset)):
        return []
    return [getattr(environment, name) for name in _names_of_tools(environment)]


def checked_tools(tools: Iterable[Any], environment: Any) -> tuple[Tool, ...]:
    """Return the declared functions as tools.

    Raises:
        ConfigError: One is not a tool, or two have the same name.
    """
    functions: list[Tool] = []
    for item in tools:
        if not isinstance(item, Tool):
            name = getattr(item, "__name__", repr(item))
            raise ConfigError(f"{name} is not a tool; put @tool (from nel.tools) above it")
        functions.append(item)
    names = [tool.name for tool in (*functions, *tools_of(environment))]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f'two tools are called "{twice[0]}"; give one another name=')
    return tuple(functions)


def _names_of_tools(kind: type) -> list[str]:
    # Those of base classes first; an overridden one keeps its place.
    names: dict[str, None] = {}
    for base in reversed(kind.__mro__):
        names |= dict.fromkeys(
            name for name, value in vars(base).items() if isinstance(value, Tool)
        )
    return list(names)
