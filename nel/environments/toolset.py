"""The built-in tools of a container: `bash`, `python`, `read_file`, `write_file`, `edit_file`.

A benchmark names them with ``environment=docker(image=...)``. The session lives in the process of
the episode's tools, so a killed run takes the container with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from nel.config.schema import SandboxConfig
from nel.environments.agents.install import TARGET, AgentInstall
from nel.environments.agents.program import AgentProgram
from nel.environments.commands import NOT_FOUND, CommandResult
from nel.environments.container import ContainerSpec, check_image
from nel.environments.endings import IMAGE, SETUP
from nel.environments.session import ContainerSession, faults
from nel.environments.snapshots import Snapshots, check_snapshot, forget_snapshots
from nel.errors import SandboxError
from nel.sandbox.isolation.engine import connect, info_of
from nel.sandbox.isolation.owners import reap
from nel.tools import (
    SNAPSHOT,
    EnvironmentMaker,
    StepAddress,
    ToolError,
    Toolset,
    ToolsetFault,
    tool,
)
from nel.tools.results import OUTPUT_BYTES_MAX, cut_output
from nel.tools.toolset import Resume
from nel.types import Json, JsonObject, Sample

if TYPE_CHECKING:
    from docker import DockerClient

_SECONDS: Final = 180.0
"""The timeout of a call, unless the episode has a lower limit."""
SETUP_SECONDS: Final = 180.0
_GRACE_SECONDS: Final = 120.0
"""For a command to be killed, and for the engine to say how its container ended."""
_FILE_BYTES_MAX: Final = OUTPUT_BYTES_MAX
_NO_PYTHON: Final = b"python3: No such file or directory\n"
"""The helper's message for a program that does not exist."""
_CHANGES_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The snapshot that a container is restored from."""

    snapshot: str
    step: StepAddress


class ContainerTools(Toolset):
    """Tools that act on one container."""

    def __init__(
        self, sample: Sample, spec: ContainerSpec, maker: ContainerMaker, origin: Origin | None
    ) -> None:
        """Start a container, with memory for an agent beside the task's.

        Args:
            sample: Of the episode.
            spec: Of the container.
            maker: Has the settings of the run, and perhaps an agent.
            origin: The snapshot that the container starts from; None for a new one.

        Raises:
            ToolsetFault: The container cannot be started.
        """
        super().__init__(sample)
        self.resume = maker.resume
        settings, agent = maker.settings, maker.agent
        with faults():
            self.client = connect(settings.docker_host)
            info = info_of(self.client)
            info.check_limits(allow_unlimited=settings.allow_unlimited)
        # The task's limit is for the task: an agent in the container gets its memory on top.
        memory_mb = spec.memory_mb
        if agent is not None and memory_mb is not None:
            memory_mb += agent.recipe.memory_mb
        self.spec = replace(
            spec, memory_mb=memory_mb, runtime=settings.runtime, unlimited=info.lacks
        )
        mounts = {} if agent is None else {TARGET: str(agent.folder)}
        snapshot = None
        if origin is not None:
            snapshot = origin.snapshot
            check_snapshot(self.client, spec.image, snapshot, origin.step)
        self.session = ContainerSession.open(self.client, self.spec, mounts, snapshot)
        self._program = AgentProgram(self.session)
        self._snapshots: Snapshots | None = None

    @tool
    def bash(self, command: str) -> str:
        """Run a shell command in the container and return its output, both streams as written.

        Each call starts in the working directory; files, installed programs and processes in the
        background stay.

        Args:
            command: A command line or script for bash, or for sh where there is no bash.
        """
        return self._text(self._run(command))

    @tool
    def python(self, code: str) -> str:
        """Run a Python program in the container and return what it prints.

        Each call is a new process that starts in the working directory.

        Args:
            code: The program.
        """
        ran = self._run(["python3", "-"], stdin=code.encode("utf-8", "surrogatepass"))
        if ran.exit == NOT_FOUND and ran.stdout == _NO_PYTHON:
            raise ToolError("There is no python3 in the container; use bash.")
        return self._text(ran)

    @tool
    def read_file(self, path: str, first_line: int = 1, n_lines: int | None = None) -> str:
        """Return the text of a file in the container.

        Args:
            path: Absolute, or relative to the working directory.
            first_line: The first line that is returned, counted from 1.
            n_lines: How many lines; all that follow when left out.
        """
        lines = self._read(path).split("\n")
        start = max(0, first_line - 1)
        end = None if n_lines is None else start + max(0, n_lines)
        return "\n".join(lines[start:end])

    @tool
    def write_file(self, path: str, text: str) -> str:
        """Write a file in the container, in place of one that is there; its folders are made.

        Args:
            path: Absolute, or relative to the working directory.
            text: All that the file holds.
        """
        return self._write(path, text)

    @tool
    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace a text in a file of the container, which must occur there exactly once.

        Args:
            path: Absolute, or relative to the working directory.
            old: The text as it stands in the file, with its white space.
            new: What replaces it.
        """
        text = self._read(path)
        n_places = text.count(old)
        if not old or n_places != 1:
            what = f"occurs {n_places} times" if old else "is empty"
            raise ToolError(f"The old text {what} in {path}; give one that occurs once.")
        return self._write(path, text.replace(old, new))

    def evidence(self) -> Json:
        """Return which files of the container changed, and the digest of the helper in it."""
        paths = [change.path for change in self.session.changes()]
        return {
            "image": self.spec.image,
            "helper": self.session.helper_digest,
            "changed": paths[:_CHANGES_MAX],
            "n_changed": len(paths),
        }

    def on_turn(self, turn: int) -> None:
        """Prepare snapshots before the first call: they record what the image does not hold."""
        if self.resume == "snapshot" and turn == 0:
            self._snapshots = Snapshots(self.client, self.session)

    def snapshot(self, step: StepAddress) -> str:
        """Return the id of an image of the container after a step."""
        assert self._snapshots is not None  # noqa: S101 - `on_turn` has made them
        return self._snapshots.take(step)

    def run_program(self, request: JsonObject) -> JsonObject:
        """Run an agent in the container to its end."""
        return self._program.run(request)

    def stop_program(self) -> None:
        """Kill the agent; `run_program` then returns."""
        self._program.stop()

    def close(self) -> None:
        """Remove the container."""
        self._program.close()
        self.session.close()
        self.client.close()

    def _run(self, command: str | Sequence[str], stdin: bytes = b"") -> CommandResult:
        seconds = _SECONDS if self.call_seconds is None else self.call_seconds
        return self.session.run(
            command, seconds=seconds, stdin=stdin, bytes_max=OUTPUT_BYTES_MAX, merge=True
        )

    def _text(self, ran: CommandResult) -> str:
        text = (ran.stdout + ran.stderr).decode("utf-8", "replace")
        if ran.cut:
            n_bytes = len(ran.stdout) + ran.cut
            text, _ = cut_output(text, OUTPUT_BYTES_MAX // 2, n_bytes)
        if ran.ended_by in ("exit", "signal"):
            return text if not ran.exit else f"{text}\n[exit code {ran.exit}]"
        reason = {
            "timeout": f"it took longer than {ran.seconds:.0f} s and was killed",
            "memory": "it was killed because the container's memory is full",
            "helper_killed": "it killed the process that runs commands, and its output is lost",
        }[ran.ended_by]
        raise ToolError(f"{text}\n[exit code {ran.exit}: {reason}]")

    def _read(self, path: str) -> str:
        try:
            return self.session.read(path, bytes_max=_FILE_BYTES_MAX).decode()
        except UnicodeDecodeError as error:
            raise ToolError(f"{path} is not text: {error}.") from error
        except OSError as error:
            raise ToolError(str(error)) from error

    def _write(self, path: str, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        try:
            self.session.write(path, data)
        except OSError as error:
            raise ToolError(str(error)) from error
        return f"{path} has {len(data):,} bytes."


@dataclass(frozen=True, kw_only=True)
class ContainerMaker(EnvironmentMaker):
    """Makes containers with the settings of a run."""

    settings: SandboxConfig = field(default_factory=SandboxConfig)
    agent: AgentInstall | None = None
    """Runs in the containers; None where nel's own solvers use the tools."""
    resume: Resume = "restart"
    """``snapshot`` makes an image of the container after each call that may have changed it."""
    setup_seconds: float = SETUP_SECONDS
    grace_seconds: float = _GRACE_SECONDS

    def make(self, sample: Sample, origin: Origin | None) -> ContainerTools:
        """Return the tools of a new container, or of one that goes on from a snapshot."""
        raise NotImplementedError

    def __call__(self, sample: Sample) -> ContainerTools:
        """Return the tools of a new container."""
        return self.make(sample, None)

    def reopen(self, sample: Sample, snapshot: str, step: StepAddress) -> Toolset:
        """Return the tools of a container that goes on from the snapshot of a step."""
        try:
            return self.make(sample, Origin(snapshot=snapshot, step=step))
        except ToolsetFault as fault:
            if fault.kind in (IMAGE, SETUP):
                raise ToolsetFault(SNAPSHOT, fault.detail) from fault
            raise

    def forget(self, step: StepAddress) -> None:
        """Remove the snapshots of an episode."""
        forget_snapshots(self.settings.docker_host, step)

    def with_sandbox(self, settings: SandboxConfig) -> Self:
        """Return it with a run's settings; they name the engine, since the tools' process has an
        empty environment.
        """
        host = settings.docker_host or os.environ.get("DOCKER_HOST")
        return replace(self, settings=settings.model_copy(update={"docker_host": host}))

    def with_agent(self, install: AgentInstall) -> Self:
        """Return it with an agent that runs in its containers."""
        return replace(self, agent=install)

    def prepare(self, samples: Sequence[Sample], log: Callable[[str], None]) -> list[str]:
        """Install the agent, where there is one."""
        if self.agent is not None:
            self.agent.install(log)
        return []

    def release(self) -> None:
        """Remove containers whose process was killed before they were started."""
        with suppress(SandboxError), self.engine():
            pass

    def check(self, sample: Sample) -> None:
        """Raise ToolsetFault where the agent could not be installed."""
        if self.agent is not None:
            self.agent.check()

    @contextmanager
    def engine(self) -> Iterator[DockerClient]:
        """Yield a client of the engine, once containers that killed runs left behind are removed.

        Raises:
            SandboxError: The engine does not answer, or cannot enforce limits.
        """
        client = connect(self.settings.docker_host)
        try:
            info_of(client).check_limits(allow_unlimited=self.settings.allow_unlimited)
            reap(client)
            yield client
        finally:
            client.close()


@dataclass(frozen=True, kw_only=True)
class DockerEnvironment(ContainerMaker):
    """Makes a container of one image for each episode."""

    spec: ContainerSpec

    def make(self, sample: Sample, origin: Origin | None) -> ContainerTools:
        """Return the tools of a container."""
        return ContainerTools(sample, self.spec, self, origin)

    def identity(self) -> JsonObject:
        """Return what the containers are made of."""
        return {**asdict(self.spec), "unlimited": []}

    def prepare(self, samples: Sequence[Sample], log: Callable[[str], None]) -> list[str]:
        """Check that the engine answers and has the image, and install the agent."""
        with self.engine() as client:
            check_image(client, self.spec.image)
            return super().prepare(samples, log)


def docker(
    *, resume: Literal["restart", "snapshot"] = "restart", **options: Any
) -> DockerEnvironment:
    """Return an environment: a container of its own for each episode, with the built-in tools.

    Args:
        resume: What a resume does: begin the episode again, or go on from a snapshot.
        options: As `ContainerSpec`: ``image``, and perhaps ``memory_mb``, ``cpus``, ``network``,
            ``workdir``, ``user``, ``env``.
    """
    return DockerEnvironment(spec=ContainerSpec(**options), resume=resume)
