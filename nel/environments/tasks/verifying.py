"""Runs the tests of a task on an agent's work, and reads the verdict that they write.

The tests are not in the container while the agent runs. Where they run is the level of trust:

- ``separate``: in a container of their own image, with copies of the declared outputs alone.
- ``fresh``: in a new container of a snapshot, with the agent's files and none of its processes.
- ``shared``: in the agent's container, beside whatever it left running.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from nel.environments.archives import pack_folders, plain_files
from nel.environments.container import ContainerSpec, search_path_of
from nel.environments.session import ContainerSession
from nel.environments.tasks.folder import TaskFolder, TaskScript
from nel.environments.tasks.images import spec_of
from nel.environments.tasks.rewards import (
    DIED,
    REWARD_BYTES_MAX,
    TIMEOUT,
    UNREADABLE,
    headline_of,
    rewards_of,
)
from nel.environments.tasks.tampering import (
    changed_files,
    inspect,
    named_folders,
    remove_compiled,
    suspicious_paths,
)
from nel.environments.tasks.terminal_bench import all_passed
from nel.errors import SandboxError
from nel.sandbox.isolation.engine import speaking
from nel.tools import ToolsetFault
from nel.types import JsonObject

if TYPE_CHECKING:
    import docker

    from nel.environments.changes import Change
    from nel.environments.commands import CommandResult

Level: TypeAlias = Literal["separate", "fresh", "shared"]
LOGS: Final = ("/logs/agent", "/logs/verifier", "/logs/artifacts")
_VERIFIER: Final = "/logs/verifier"
_ARCHIVE_BYTES_MAX: Final = REWARD_BYTES_MAX + (64 << 10)
_OUTPUT_BYTES: Final = 4 << 20
_TAIL_CHARACTERS: Final = 2_000
_PATHS_MAX: Final = 50
_SECONDS: Final = 60.0
_KILLED: Final = {
    "helper_killed": "the tests killed the process that runs them",
    "memory": "the tests were killed because the container's memory is full",
    "signal": "the tests' script was killed",
}
_SIGNALS: Final = 128
"""A shell adds this to the number of the signal that ended a command."""


def verify(
    client: docker.DockerClient,
    session: ContainerSession,
    task: TaskFolder,
    level: Level,
    *,
    ends: bool = True,
) -> JsonObject:
    """Return the verdict as JSON: level, rewards, suspicious changes, the end of the tests' output.

    Args:
        client: Of the engine.
        session: Of the agent's container.
        task: Or a step of it.
        level: Of a task that declares no container for its tests.
        ends: Whether the session is closed once the agent's work is taken out of it.

    Raises:
        ToolsetFault: There is no verdict (``verifier_*``).
    """
    try:
        if task.verifier is not None:
            level = "separate"
            verdict = _separate(client, session, task, task.verifier, ends=ends)
        elif level == "shared":
            verdict = _judge(client, session, task, session.changes())
        else:
            verdict = _fresh(client, session, task, ends=ends)
    except (ToolsetFault, OSError) as error:
        if isinstance(error, ToolsetFault) and error.kind.startswith("verifier_"):
            raise
        raise ToolsetFault(DIED, f"the tests did not come to an end: {error}") from error
    return {"image": session.spec.image, "helper": session.helper_digest, **verdict, "level": level}


def _judge(
    client: docker.DockerClient,
    session: ContainerSession,
    task: TaskFolder,
    changes: Sequence[Change],
) -> JsonObject:
    """Run the tests, and return the verdict with those changes of the agent that can forge it."""
    config = client.images.get(session.spec.image).attrs["Config"]
    workdir = str(config.get("WorkingDir") or "/").rstrip("/")
    path = search_path_of(config)
    folders = {workdir, *named_folders(task.tests)}
    suspicious = suspicious_paths(changes, search_path=path, import_folders=folders)
    suspicious += inspect(session, changes, path)
    verdict, changed_by_tests = _verdict(session, task)
    tampered = sorted({*suspicious, *changed_by_tests})
    return {"tampered": tampered[:_PATHS_MAX], "n_tampered": len(tampered), **verdict}


def _fresh(
    client: docker.DockerClient, session: ContainerSession, task: TaskFolder, *, ends: bool
) -> JsonObject:
    """Return the verdict of tests in a new container of a snapshot."""
    changes = session.changes()
    image = session.snapshot()
    if ends:  # before the tests start, so that none of the agent's processes is beside them
        session.close()
    spec = replace(_spec(session, task, task), image=image)
    try:
        container = ContainerSession.open(client, spec)
        try:
            remove_compiled(container, changes)
            return _judge(client, container, task, changes)
        finally:
            container.close()
    finally:
        with suppress(SandboxError), speaking():
            client.images.remove(image, force=True, noprune=True)


def _separate(
    client: docker.DockerClient,
    session: ContainerSession,
    task: TaskFolder,
    verifier: TaskFolder,
    *,
    ends: bool,
) -> JsonObject:
    """Return the verdict of tests in a container of their own, with the agent's outputs alone."""
    try:
        archives = {path: session.get_tree(path) for path in task.outputs}
    except ValueError as error:
        raise ToolsetFault(UNREADABLE, str(error)) from error
    if ends:
        session.close()
    outputs = {path: plain_files(data) for path, data in archives.items() if data is not None}
    container = ContainerSession.open(client, _spec(session, task, verifier))
    try:
        make_logs(container, *LOGS)
        # The image may have something in the place of an output, which must not be taken for it.
        for path, (archive, _) in outputs.items():
            container.remove_tree(path)
            container.put_archive(str(PurePosixPath(path).parent), archive)
        changes = container.changes()
        remove_compiled(container, changes)
        return {
            **_judge(client, container, task, changes),
            "outputs_missing": [path for path, data in archives.items() if data is None],
            "links_left_out": {path: n for path, (_, n) in outputs.items() if n},
        }
    finally:
        container.close()


def _spec(session: ContainerSession, task: TaskFolder, container: TaskFolder) -> ContainerSpec:
    """Return the container of tests: the folder's limits, without the memory for an agent."""
    spec = spec_of(container, task.verifier_network)
    agent_spec = session.spec
    return replace(spec, user=None, runtime=agent_spec.runtime, unlimited=agent_spec.unlimited)


def put_script(session: ContainerSession, script: TaskScript) -> None:
    """Put a script with its folder into the container, in place of what the agent left there."""
    if not script.is_in_image:
        session.remove_tree(script.target)
        session.put_archive(script.target, pack_folders(script.folders))
        session.write(script.path, script.file.read_bytes(), mode=0o755, user="0:0")
    session.run(["chmod", "-R", "a+rX", script.target], seconds=_SECONDS, user="0:0")
    session.run(["chmod", "a+x", script.path], seconds=_SECONDS, user="0:0")


def run_script(
    session: ContainerSession,
    script: TaskScript,
    *,
    seconds: float,
    user: str | None = None,
    watch: str = "",
) -> CommandResult:
    """Run a script that was put into the container.

    Args:
        session: Of the container.
        script: With its variables.
        seconds: After which it is killed.
        user: The session's own where None.
        watch: As of `ContainerSession.run`.

    Raises:
        ToolsetFault: The container or the engine is gone.
    """
    return session.run(
        script.path,
        seconds=seconds,
        env=script.env,
        user=user,
        bytes_max=_OUTPUT_BYTES,
        merge=True,
        watch=watch,
    )


def make_logs(session: ContainerSession, *folders: str) -> None:
    """Make empty folders for logs, which every user may write to."""
    for folder in folders:
        session.remove_tree(folder)
    session.run(["mkdir", "-p", *folders], seconds=_SECONDS, cwd="/", user="0:0")
    session.run(["chmod", "777", *folders], seconds=_SECONDS, cwd="/", user="0:0")


def _verdict(session: ContainerSession, task: TaskFolder) -> tuple[JsonObject, list[str]]:
    """Return the verdict, and paths of the tests that were changed while they ran."""
    seconds = task.tests.seconds or _SECONDS
    make_logs(session, _VERIFIER)
    put_script(session, task.tests)
    # A process that the agent left running could change the tests while they run; compared below.
    before = _tests(session, task)
    user = session.image_user if task.tests.user is None else task.tests.user
    ran = run_script(session, task.tests, seconds=seconds, user=user, watch=_VERIFIER)
    if ran.ended_by == "timeout":
        raise ToolsetFault(TIMEOUT, f"the tests took longer than {seconds:g} s")
    output = ran.stdout.decode("utf-8", "replace")
    ending = f"exit code {ran.exit}, and it printed: {output[-_TAIL_CHARACTERS:]}"
    # A script that goes on after one of its programs was killed exits by itself: its reward counts.
    if ran.ended_by in _KILLED and ran.exit > _SIGNALS:
        raise ToolsetFault(DIED, f"{_KILLED[ran.ended_by]}; {ending}")
    try:
        if task.reads == "reward":
            rewards, changed = _rewards(session)
        else:
            rewards, changed = _of_pytest(output), []
        headline = headline_of(rewards)
    except ToolsetFault as fault:
        raise ToolsetFault(fault.kind, f"{fault.detail}; {ending}") from fault
    folder = PurePosixPath(task.tests.target).parent
    changed += [str(folder / name) for name in changed_files(before, _tests(session, task))]
    # A process that outlived the tests wrote to the folder of the reward after they had ended.
    if ran.is_written_after:
        changed.append(_VERIFIER)
    verdict: JsonObject = {
        "reward": headline,
        "rewards": dict(rewards),
        "tests_exit": ran.exit,
        "tests_output": output[-_TAIL_CHARACTERS:],
    }
    return verdict, changed


def _tests(session: ContainerSession, task: TaskFolder) -> bytes | None:
    try:
        return session.get_tree(task.tests.target)
    except ValueError:  # larger than the limit of a comparison
        return None


def _rewards(session: ContainerSession) -> tuple[dict[str, float], list[str]]:
    """Return the rewards, and reward.txt as suspicious where it contradicts reward.json."""
    bytes_max = _ARCHIVE_BYTES_MAX
    try:
        as_json = session.get_tree(f"{_VERIFIER}/reward.json", bytes_max=bytes_max)
        as_text = session.get_tree(f"{_VERIFIER}/reward.txt", bytes_max=bytes_max)
    except ValueError as error:
        raise ToolsetFault(UNREADABLE, str(error)) from error
    rewards = rewards_of(as_json, as_text)
    # Where both are there they have to agree, else one of them may be the agent's.
    if as_json is None or as_text is None:
        return rewards, []
    with suppress(ToolsetFault):
        if headline_of(rewards_of(None, as_text)) == headline_of(rewards):
            return rewards, []
    return rewards, [f"{_VERIFIER}/reward.txt"]


def _of_pytest(output: str) -> dict[str, float]:
    passed = all_passed(output)
    if passed is None:
        raise ToolsetFault(UNREADABLE, "the tests printed no summary of pytest")
    return {"reward": float(passed)}
