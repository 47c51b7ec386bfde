"""The containers of task folders: images before the first request, tools, and the verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from nel.environments.agents.program import AgentProgram
from nel.environments.archives import pack_folders
from nel.environments.container import check_image
from nel.environments.endings import IMAGE, SETUP
from nel.environments.tasks.folder import HealthCheck, TaskFolder
from nel.environments.tasks.images import image_of, make_image, spec_of
from nel.environments.tasks.rewards import TAMPERED, verdict_of_steps
from nel.environments.tasks.verifying import LOGS, Level, make_logs, put_script, run_script, verify
from nel.environments.toolset import SETUP_SECONDS, ContainerMaker, ContainerTools, Origin
from nel.errors import SandboxError
from nel.sandbox.isolation.engine import is_outage
from nel.tools import SNAPSHOT, StepAddress, Toolset, ToolsetFault
from nel.tools.toolset import Resume
from nel.types import Json, JsonObject, Sample

if TYPE_CHECKING:
    import docker

_NOTES_MAX: Final = 3
_VERDICT_SECONDS: Final = 300.0
"""For a snapshot and a new container, on a busy machine."""
_SCRIPT_SECONDS: Final = 600.0
"""Of a solution without a limit, or of the set-up of a step."""
_OUTPUT_CHARACTERS: Final = 500


class TaskTools(ContainerTools):
    """The built-in tools, in the container of one task."""

    def __init__(
        self,
        sample: Sample,
        task: TaskFolder,
        maker: TaskEnvironment,
        origin: Origin | None = None,
    ) -> None:
        """Open the container, and wait until it is healthy; raises ToolsetFault."""
        super().__init__(sample, spec_of(task, task.network), maker, origin)
        self.task = task.steps[0] if task.steps else task
        """Or the step that is worked on."""
        self._whole = task
        self._verdicts: list[JsonObject] = []
        """Of the steps that are over."""
        self._level = maker.level
        self._is_strict = maker.settings.strict_verdicts
        if origin is not None:
            return
        try:
            make_logs(self.session, *LOGS)
            if task.health is not None:
                _wait_until_healthy(self, task.health)
            self._prepare_step()
        except BaseException:
            self.close()
            raise

    def snapshot(self, step: StepAddress) -> str:
        """Return the id of an image of the container after a step of the agent."""
        if self._whole.steps:
            raise ToolsetFault(SNAPSHOT, "a task of several steps begins again")
        return super().snapshot(step)

    def solve(self) -> None:
        """Run the folder's own solution; raises ToolsetFault where it takes too long."""
        solution = self.task.solution
        assert solution is not None  # noqa: S101 - the caller has seen to it
        seconds = self.task.agent_seconds or _SCRIPT_SECONDS
        put_script(self.session, solution)
        ran = run_script(self.session, solution, seconds=seconds)
        if ran.ended_by == "timeout":
            raise ToolsetFault("solution", f"the solution took longer than {seconds:g} s")

    def evidence(self) -> Json:
        """Return the verdict of the tests; one that can be forged is none where that is asked."""
        while self.next_stage() is not None:
            pass  # steps that the agent did not come to are verified as well
        # After the last step the agent's container may be closed before its tests run.
        if self._goes_on():
            self._verdicts.append(verify(self.client, self.session, self.task, self._level))
        evidence = verdict_of_steps(self._verdicts, is_mean=self._whole.is_mean)
        if self._is_strict and evidence["tampered"]:
            raise ToolsetFault(TAMPERED, f"changed are {evidence['tampered']}")
        return evidence

    def next_stage(self) -> JsonObject | None:
        """Verify a step that is not the last, and prepare the next one; None where none follows."""
        n_over = len(self._verdicts)
        if n_over + 1 >= len(self._whole.steps) or not self._goes_on():
            return None
        # The next step goes on in the same container.
        self._verdicts.append(verify(self.client, self.session, self.task, self._level, ends=False))
        if not self._goes_on():
            return None
        # Each step starts an agent program of its own.
        self._program.close()
        self._program = AgentProgram(self.session)
        self.task = self._whole.steps[n_over + 1]
        make_logs(self.session, *LOGS)
        self._prepare_step()
        return {"instruction": self.task.instruction, "work_seconds": self.task.agent_seconds}

    def _goes_on(self) -> bool:
        """Return whether the last step reached what the next one asks for."""
        if not self._verdicts:
            return True
        rewards: Any = self._verdicts[-1]["rewards"]
        thresholds = self.task.min_rewards.items()
        return all(rewards.get(name, -math.inf) >= value for name, value in thresholds)

    def _prepare_step(self) -> None:
        """Put a step's files into the working directory, and run its set-up and health check."""
        if (folder := self.task.workdir_files) is not None:
            self.session.put_archive(self.session.cwd, pack_folders([folder]))
            if (folder / "setup.sh").is_file():
                ran = self.session.run(
                    ["bash", f"{self.session.cwd}/setup.sh"], seconds=_SCRIPT_SECONDS, merge=True
                )
                if ran.exit:
                    output = ran.stdout.decode("utf-8", "replace")[-_OUTPUT_CHARACTERS:]
                    raise ToolsetFault(SETUP, f"setup.sh fails (exit code {ran.exit}): {output}")
        if self._whole.steps and self.task.health is not None:
            _wait_until_healthy(self, self.task.health)


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
    def of(
        cls, tasks: Mapping[str, TaskFolder | str], level: Level, resume: Resume = "restart"
    ) -> TaskEnvironment:
        """Return the environment of these tasks, with time for the slowest start and tests."""
        readable = [task for task in tasks.values() if isinstance(task, TaskFolder)]
        return cls(
            tasks=tasks,
            level=level,
            resume=resume,
            setup_seconds=SETUP_SECONDS + max(map(_start_seconds, readable), default=0.0),
            evidence_seconds=max(map(_evidence_seconds, readable), default=_VERDICT_SECONDS),
        )

    def make(self, sample: Sample, origin: Origin | None) -> TaskTools:
        """Return the tools of a task's container."""
        return TaskTools(sample, self._task(sample), self, origin)

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
            task = self._task(sample)
            if None in [step.solution for step in task.steps or [task]]:
                yield "it has no solution that can be tried"
            elif (reward := self._reward(sample, solves=True)) < 1:
                yield f"its solution reaches {reward:g}, and not 1"
            if (reward := self._reward(sample, solves=False)) >= 1:
                yield f"doing nothing reaches {reward:g}"
        except ToolsetFault as fault:
            yield str(fault)

    def _reward(self, sample: Sample, *, solves: bool) -> float:
        tools = self.make(sample, None)
        try:
            if solves:
                tools.solve()
            while tools.next_stage() is not None:
                if solves:
                    tools.solve()
            evidence = tools.evidence()
        finally:
            tools.close()
        assert isinstance(evidence, dict)  # noqa: S101 - `verdict_of_steps` returns one
        return float(str(evidence["reward"]))

    def _make(self, client: docker.DockerClient, task_id: str, task: TaskFolder) -> None:
        try:
            for container in task.containers:
                make_image(client, container)
                check_image(client, image_of(container))
            self.faults.pop(task_id, None)
        except SandboxError as error:
            # An engine that is away stops the run; a missing image costs its task alone.
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
            listing = "; ".join(unread[:_NOTES_MAX])
            yield f"{len(unread)} of {len(ids)} tasks have unknown keys, which are ignored: {listing}"
        reasons: dict[str, str] = {}
        for name, task in tasks.items():
            reason = self.faults.get(name) or task  # in place of a task that is refused stands why
            if isinstance(reason, str):
                reasons[name] = reason
        if reasons:
            examples = [f"{name}: {reason}" for name, reason in list(reasons.items())[:_NOTES_MAX]]
            yield f"{len(reasons)} of {len(ids)} tasks cannot be run: {'; '.join(examples)}"

    def _task(self, sample: Sample) -> TaskFolder:
        task = self.tasks.get(sample.id, "the folder has no such task")
        if isinstance(task, str):
            raise ToolsetFault("task", task)
        return task


def _start_seconds(task: TaskFolder) -> float:
    """Return how long a container or a step may take until its agent begins."""
    checks = [step.health for step in (task, *task.steps[:1]) if step.health is not None]
    script_seconds = _SCRIPT_SECONDS if task.steps or task.workdir_files else 0.0
    return script_seconds + sum(
        check.start_seconds + check.retries * (check.interval_seconds + check.timeout_seconds)
        for check in checks
    )


def _evidence_seconds(task: TaskFolder) -> float:
    """Return how long the verdict may take: steps that the agent did not come to are begun, too."""
    return sum(
        _VERDICT_SECONDS + (step.tests.seconds or 0.0) + _start_seconds(step)
        for step in task.steps or [task]
    )


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
            output = ran.stdout.decode("utf-8", "replace")[-_OUTPUT_CHARACTERS:]
            raise ToolsetFault(SETUP, f"the health check fails (exit code {ran.exit}): {output}")
        time.sleep(check.start_interval_seconds if is_starting else check.interval_seconds)
