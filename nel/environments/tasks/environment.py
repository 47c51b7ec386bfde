"""The containers of task folders: images before the first request, tools, and the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from nel.config.schema import SandboxConfig
from nel.environments.agents.install import AgentInstall
from nel.environments.container import check_python
from nel.environments.endings import IMAGE, SETUP
from nel.environments.tasks.folder import HealthCheck, TaskFolder
from nel.environments.tasks.images import image_of, make_image, spec_of
from nel.environments.tasks.rewards import TAMPERED
from nel.environments.tasks.verifying import LOGS, Level, make_logs, put_script, run_script, verify
from nel.environments.toolset import SETUP_SECONDS, ContainerMaker, ContainerTools
from nel.errors import SandboxError
from nel.sandbox.isolation.engine import is_outage
from nel.tools import Toolset, ToolsetFault
from nel.types import Json, JsonObject, Sample

if TYPE_CHECKING:
    import docker

_NOTES_MAX: Final = 3
_VERDICT_SECONDS: Final = 300.0
"""For a snapshot and a new container, on a busy machine."""
_SOLUTION_SECONDS: Final = 600.0


class TaskTools(ContainerTools):
    """The built-in tools, in the container of one task."""

    def __init__(
        self,
        sample: Sample,
        task: TaskFolder,
        level: Level,
        settings: SandboxConfig,
        agent: AgentInstall | None = None,
    ) -> None:
        """Open the container, and wait until it is healthy; raises ToolsetFault."""
        super().__init__(sample, spec_of(task, task.network), settings, agent)
        self.task = task
        self._level = level
        self._is_strict = settings.strict_verdicts
        try:
            make_logs(self.session, *LOGS)
            if task.health is not None:
                _wait_until_healthy(self, task.health)
        except BaseException:
            self.close()
            raise

    def solve(self) -> None:
        """Run the folder's own solution; raises ToolsetFault where it takes too long."""
        solution = self.task.solution
        assert solution is not None  # noqa: S101 - the caller has seen to it
        seconds = self.task.agent_seconds or _SOLUTION_SECONDS
        put_script(self.session, solution)
        ran = run_script(self.session, solution, seconds=seconds)
        if ran.ended_by == "timeout":
            raise ToolsetFault("solution", f"the solution took longer than {seconds:g} s")

    def evidence(self) -> Json:
        """Return the verdict of the tests; one that can be forged is none where that is asked."""
        evidence = verify(self.client, self.session, self.task, self._level)
        if self._is_strict and evidence["tampered"]:
            raise ToolsetFault(TAMPERED, f"changed are {evidence['tampered']}")
        return evidence


@dataclass(frozen=True, kw_only=True)
class TaskEnvironment(ContainerMaker):
    """Makes the container of each task of a folder of folders."""

    tasks: Mapping[str, TaskFolder | str]
    """By id; in place of one that is refused stands why."""
    level: Level = "fresh"
    faults: dict[str, str] = field(default_factory=dict, compare=False)
    """Why an image cannot be had, by the id of its task; written by `prepare`."""
    evidence_seconds: float = _VERDICT_SECONDS

    @classmethod
    def of(cls, tasks: Mapping[str, TaskFolder | str], level: Level) -> TaskEnvironment:
        """Return the environment of these tasks, with time for the slowest start and tests."""
        readable = [task for task in tasks.values() if isinstance(task, TaskFolder)]
        starts = [_health_seconds(task.health) for task in readable if task.health is not None]
        tests = [task.tests.seconds or 0.0 for task in readable]
        return cls(
            tasks=tasks,
            level=level,
            setup_seconds=SETUP_SECONDS + max(starts, default=0.0),
            evidence_seconds=_VERDICT_SECONDS + max(tests, default=0.0),
        )

    def __call__(self, sample: Sample) -> TaskTools:
        """Return the tools of a task's new container."""
        return TaskTools(sample, self._task(sample), self.level, self.settings, self.agent)

    def identity(self) -> JsonObject:
        """Return how verdicts are reached; the tasks themselves are rows."""
        return {"level": self.level}

    def prepare(self, samples: Sequence[Sample], log: Callable[[str], None]) -> list[str]:
        """Build or fetch the images of these tasks; one that fails leaves the others as they are."""
        with self.engine() as client:
            for number, sample in enumerate(samples):
                task = self.tasks.get(sample.id)
                if isinstance(task, TaskFolder):
                    log(f"building image {number + 1} of {len(samples)}")
                    self._make(client, sample.id, task)
        super().prepare(samples, log)
        return list(self._notes([sample.id for sample in samples]))

    def check(self, sample: Sample) -> None:
        """Raise ToolsetFault where a task is refused or has no image, or the agent is missing."""
        super().check(sample)
        self._task(sample)
        if sample.id in self.faults:
            raise ToolsetFault(IMAGE, self.faults[sample.id])

    def try_solution(self, sample: Sample) -> Iterator[str]:
        """Yield what is wrong with a task: its solution has to reach 1, and doing nothing must not.

        Its image has to be there, as `prepare` makes it.
        """
        try:
            self.check(sample)
            if self._task(sample).solution is None:
                yield "it has no solution that can be tried"
            elif (reward := self._reward(sample, solves=True)) < 1:
                yield f"its solution reaches {reward:g}, and not 1"
            if (reward := self._reward(sample, solves=False)) >= 1:
                yield f"doing nothing reaches {reward:g}"
        except ToolsetFault as fault:
            yield str(fault)

    def _reward(self, sample: Sample, *, solves: bool) -> float:
        tools = self(sample)
        try:
            if solves:
                tools.solve()
            evidence = tools.evidence()
        finally:
            tools.close()
        assert isinstance(evidence, dict)  # noqa: S101 - `verify` returns one
        return float(str(evidence["reward"]))

    def _make(self, client: docker.DockerClient, task_id: str, task: TaskFolder) -> None:
        try:
            for made in filter(None, (task, task.verifier)):
                make_image(client, made)
                check_python(client, image_of(made))
            self.faults.pop(task_id, None)
        except SandboxError as error:
            if is_outage(error) and error.kind != "no_image":
                raise
            self.faults[task_id] = str(error)

    def _notes(self, ids: Sequence[str]) -> Iterator[str]:
        tasks = {name: self.tasks.get(name) for name in ids}
        unread = [
            f"{name}: {', '.join(task.unread)}"
            for name, task in tasks.items()
            if isinstance(task, TaskFolder) and task.unread
        ]
        if unread:
            named = "; ".join(unread[:_NOTES_MAX])
            yield f"{len(unread)} of {len(ids)} tasks have unknown keys, which are ignored: {named}"
        reasons = {
            name: self.faults.get(name) or task
            for name in ids
            if isinstance(task := tasks[name], str) or name in self.faults
        }
        if reasons:
            first = [f"{name}: {reason}" for name, reason in list(reasons.items())[:_NOTES_MAX]]
            yield f"{len(reasons)} of {len(ids)} tasks cannot be run: {'; '.join(first)}"

    def _task(self, sample: Sample) -> TaskFolder:
        task = self.tasks.get(sample.id, "the folder has no such task")
        if isinstance(task, str):
            raise ToolsetFault("task", task)
        return task


def _health_seconds(check: HealthCheck) -> float:
    return check.start_seconds + check.retries * (check.interval_seconds + check.timeout_seconds)


def _wait_until_healthy(tools: Toolset, check: HealthCheck) -> None:
    """Wait for a command to succeed; failures in the time of the start do not count."""
    assert isinstance(tools, TaskTools)  # noqa: S101 - called by it
    started, n_failed = time.monotonic(), 0
    while True:
        ran = tools.session.run(check.command, seconds=check.timeout_seconds, merge=True)
        if ran.exit == 0:
            return
        is_starting = time.monotonic() - started < check.start_seconds
        n_failed += not is_starting
        if n_failed >= check.retries:
            output = ran.stdout.decode("utf-8", "replace")[-500:]
            raise ToolsetFault(SETUP, f"the health check fails (exit code {ran.exit}): {output}")
        time.sleep(check.start_interval_seconds if is_starting else check.interval_seconds)
