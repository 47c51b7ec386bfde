"""Faults of containers, images, engines and verifiers: each is named, and none is a score.

One of each cause is among the tests of `make test-sandbox`; the others are slow.
"""

from __future__ import annotations

import gc
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from docker.errors import APIError, NotFound

from nel.config.schema import SandboxConfig
from nel.environments import session
from nel.environments.container import ContainerSpec
from nel.environments.session import ContainerSession
from nel.environments.tasks.environment import TaskEnvironment, TaskTools
from nel.environments.tasks.harbor import read_harbor
from nel.environments.tasks.verifying import verify
from nel.environments.toolset import docker
from nel.tools import ToolError, ToolsetFault
from nel.types import Sample
from tests.support.containers import IMAGE, engine_client
from tests.support.flaky_engine import FlakyEngine, flaky_engine
from tests.support.tiers import first_rows, representatives

SAMPLE = Sample(id="task", input="")
TXT, JSON = "/logs/verifier/reward.txt", "/logs/verifier/reward.json"
pytestmark = [
    pytest.mark.docker,
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
    ),  # the SDK's
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with engine_client() as engine:
        yield engine
    gc.collect()  # here, where warnings of the SDK's sockets are expected


@pytest.fixture(scope="module")
def shared_session(client: Any) -> Iterator[ContainerSession]:
    opened = ContainerSession.open(client, ContainerSpec(image=IMAGE, memory_mb=256))
    yield opened
    opened.close()


def folder_of(folder: Path, test: str, toml: str = "", *, dockerfile: str | None = None) -> Path:
    """Write a task that starts from the base image, or from an image of its own."""
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test.sh").write_text(test)
    (folder / "instruction.md").write_text("Do it.")
    if dockerfile is not None:
        (folder / "environment").mkdir()
        (folder / "environment" / "Dockerfile").write_text(dockerfile)
    image = f'docker_image = "{IMAGE}"\n' if dockerfile is None else ""
    if "[environment]" not in toml:
        toml = f"{toml}\n[environment]\n"
    toml = toml.replace("[environment]", f'[environment]\nnetwork_mode = "no-network"\n{image}')
    (folder / "task.toml").write_text(toml)
    return folder


def environment(folder: Path, **options: Any) -> TaskEnvironment:
    return TaskEnvironment(tasks={"task": read_harbor(folder)}, **options)


REWARDS = {
    "nothing": ("verifier_no_reward", "true"),
    "a failing script": ("verifier_no_reward", "exit 3"),
    "no folder": ("verifier_no_reward", "rm -rf /logs/verifier"),
    "10 MB": ("verifier_unreadable", f"head -c 10000000 /dev/zero > {TXT}"),
    "a link": ("verifier_unreadable", f"echo 1 > /x; ln -s /x {TXT}"),
    "a link to nothing": ("verifier_unreadable", f"ln -s /nowhere {TXT}"),
    "a folder": ("verifier_unreadable", f"mkdir {TXT}"),
    "a pipe": ("verifier_unreadable", f"mkfifo {TXT}"),
    "a socket": ("verifier_", f"python3 -c \"import socket; socket.socket(1).bind('{TXT}')\""),
    "a linked JSON file": ("verifier_unreadable", f"echo '{{\"reward\": 1}}' > /x; ln -s /x {JSON}; echo 1 > {TXT}"),
    "no interpreter": ("verifier_no_reward", None),
    "a killed script": ("verifier_died", f"echo 0 > {TXT}; kill -9 $$"),
    "killed for memory": ("verifier_died", f"echo 0 > {TXT}; exec python3 -c 'bytearray(1 << 30)'"),
    "a test killed for memory": (
        "verifier_died",
        f"set -e; echo 0 > {TXT}; python3 -c 'bytearray(1 << 30)'; echo 1 > {TXT}",
    ),
    "a timeout": ("verifier_timeout", f"echo 0 > {TXT}; sleep 100"),
}


@pytest.mark.parametrize(
    ("kind", "test"), representatives(REWARDS, "nothing", "10 MB", "a link", "a pipe", "a killed script", "a timeout")
)
def test_what_tests_leave_that_is_not_a_reward(
    tmp_path: Path, client: Any, shared_session: ContainerSession, kind: str, test: str | None
) -> None:
    """All in one container: the folder of the reward is new each time."""
    text = "#!/no/such\n" if test is None else f"#!/bin/bash\n{test}\n"
    task = read_harbor(folder_of(tmp_path, text, "[verifier]\ntimeout_sec = 4"))
    with pytest.raises(ToolsetFault, match=kind):
        verify(client, shared_session, task, "shared")


def wait_for_file(session: ContainerSession, path: str) -> None:
    """Return once a command in the container has written it, as another connection sees."""
    with engine_client() as engine:
        while True:
            try:
                archive, _ = engine.api.get_archive(session.id, path)
            except NotFound:
                continue
            if list(archive):
                return


def during(session: ContainerSession, act: Callable[[], object]) -> threading.Thread:
    """Have something happen once the tests have written their reward."""

    def run() -> None:
        wait_for_file(session, TXT)
        act()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


MEANWHILE: dict[str, tuple[str, Callable[[Any, FlakyEngine], object]]] = {
    "killed": ("verifier_died: .*was killed from outside", lambda container, _: container.kill()),
    "removed": ("verifier_died: .*container", lambda container, _: container.remove(force=True)),
    "stopped": ("verifier_died: .*container", lambda container, _: container.stop(timeout=0)),
    "started again": ("verifier_died: .*container", lambda container, _: container.restart(timeout=0)),
    "paused": ("verifier_died: .*is paused", lambda container, _: container.pause()),
    "its engine gone": ("verifier_died: .*no Docker engine answers", lambda _, engine: engine.stop()),
}


@pytest.mark.parametrize(("kind", "act"), representatives(MEANWHILE, "killed"))
def test_what_happens_to_a_container_while_its_tests_run(
    tmp_path: Path, kind: str, act: Callable[[Any, FlakyEngine], object], client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the reward is written: the tests had not ended."""
    monkeypatch.setattr(session, "_GRACE_SECONDS", 2)
    task = read_harbor(
        folder_of(tmp_path / "task", f"#!/bin/bash\necho 0 > {TXT}; sleep 20", "[verifier]\ntimeout_sec = 2")
    )
    with flaky_engine(tmp_path / "socket") as engine, engine_client(engine.host) as behind:
        opened = ContainerSession.open(behind, ContainerSpec(image=IMAGE))
        try:
            thread = during(opened, lambda: act(client.containers.get(opened.id), engine))
            with pytest.raises(ToolsetFault, match=kind):
                verify(behind, opened, task, "shared")
            thread.join()
        finally:
            opened.close()
            with suppress(APIError):  # it is already gone, or on its way
                client.api.remove_container(opened.id, force=True)


def _run_and_judge(tools: TaskTools, command: str) -> None:
    with suppress(ToolError):
        tools.bash.run({"command": command}, SAMPLE)
    tools.evidence()


COMMANDS = {
    "no shell for a verdict": ("verifier_", "cp /bin/bash /b; rm -f /bin/bash"),
    "the container ended": ("container_died", "kill -9 -1"),
    "its helper stopped": ("container_died: .*no proper answer", "kill -STOP $PPID"),
    "noise for an answer": (
        "container_died: .*no proper answer",
        "echo noise-noise-noise-noise > /proc/$PPID/fd/1; sleep 1",
    ),
}


@pytest.mark.parametrize(("kind", "command"), representatives(COMMANDS, "the container ended"))
def test_commands_that_end_their_container_or_its_verdict(
    tmp_path: Path, client: Any, kind: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command of the agent's, and what then stands in place of a score."""
    monkeypatch.setattr(session, "_GRACE_SECONDS", 1)
    made = environment(folder_of(tmp_path, f"#!/bin/bash\necho 1 > {TXT}"))
    tools = made(SAMPLE)
    tools.call_seconds = 2
    try:
        with pytest.raises(ToolsetFault, match=kind):
            _run_and_judge(tools, command)
    finally:
        tools.close()


def test_a_full_disk(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that fails while the disk has no room says nothing of the model."""
    opened = ContainerSession.open(client, ContainerSpec(image=IMAGE))
    try:
        monkeypatch.setattr(session, "_DISK_BYTES_MIN", 1 << 60)
        with pytest.raises(ToolsetFault, match="disk_full"):
            opened.run("false", seconds=9)
    finally:
        opened.close()


REFUSALS = {
    "a full disk": ("verifier_died: .*disk_full", "write /x: no space left on device"),
    "anything else": ("verifier_died: .*engine: .*devicemapper", "devicemapper: thin pool is out of data"),
}


@pytest.mark.parametrize(("kind", "refusal"), representatives(REFUSALS, "a full disk"))
def test_an_engine_that_refuses_a_snapshot(tmp_path: Path, kind: str, refusal: str, client: Any) -> None:
    """The verdict is none, and says why."""
    with flaky_engine(tmp_path / "socket") as engine:
        settings = SandboxConfig(docker_host=engine.host)
        made = environment(folder_of(tmp_path / "task", f"#!/bin/bash\necho 1 > {TXT}"), settings=settings)
        tools = made(SAMPLE)
        try:
            engine.refusal = refusal
            with pytest.raises(ToolsetFault, match=kind):
                tools.evidence()
        finally:
            engine.refusal = ""
            tools.close()


OPENINGS = {
    "an unknown user of the agent": ("setup: .*no user nosuch", '[agent]\nuser = "nosuch"'),
    "a failing health check": (
        "setup: the health check fails",
        '[environment]\n[environment.healthcheck]\ncommand = "false"\ninterval_sec = 0\nretries = 1',
    ),
    "a hanging health check": (
        "setup: the health check fails",
        '[environment]\n[environment.healthcheck]\ncommand = "sleep 99"\ntimeout_sec = 0.2\nretries = 1',
    ),
    "a working directory that is a file": ("engine|setup", '[environment]\nworkdir = "/etc/passwd"'),
    "too little memory": ("engine|setup", "[environment]\nmemory_mb = 1"),
}


@pytest.mark.parametrize(("kind", "toml"), representatives(OPENINGS, "a failing health check"))
def test_a_container_that_cannot_be_had(tmp_path: Path, client: Any, kind: str, toml: str) -> None:
    """Known before the model is asked."""
    with pytest.raises(ToolsetFault, match=kind):
        environment(folder_of(tmp_path, "#!/bin/bash\n", toml))(SAMPLE).close()


VERIFIERS = {
    "an image that is not there": ("verifier_died: .*image: ", "nel-no-such:1"),
    "an image without tests": ("verifier_no_reward: .*exit code 127", IMAGE),
    "an image without a shell": ("verifier_died: .*", "nel-no-shell:test"),
}


@pytest.mark.parametrize(("kind", "image"), representatives(VERIFIERS, "an image that is not there"))
def test_a_verifier_of_its_own_that_cannot_run(tmp_path: Path, client: Any, kind: str, image: str) -> None:
    """What the agent left is not judged by it, whatever that is."""
    toml = f'[verifier.environment]\nnetwork_mode = "no-network"\ndocker_image = "{image}"'
    tools = environment(folder_of(tmp_path, f"#!/bin/bash\necho 1 > {TXT}", toml))(SAMPLE)
    if "no-shell" in image:
        client.images.build(fileobj=io.BytesIO(f"FROM {IMAGE}\nRUN rm /bin/sh".encode()), tag=image)
    try:
        with pytest.raises(ToolsetFault, match=kind):
            tools.evidence()
    finally:
        tools.close()


def test_an_image_that_went_after_it_was_made(client: Any) -> None:
    """Another program removed it between two episodes."""
    with pytest.raises(ToolsetFault, match="image: the image is not there"):
        docker(image="nel-no-such:1")(SAMPLE)


@pytest.mark.parametrize("refusal", first_rows(1, ["", "no space left on device"]))
def test_an_engine_that_is_away_before_a_container_starts(tmp_path: Path, client: Any, refusal: str) -> None:
    """A stopped one, and one whose disk is full."""
    with flaky_engine(tmp_path / "socket") as engine:
        made = docker(image=IMAGE).with_sandbox(SandboxConfig(docker_host=engine.host))
        engine.refusal = refusal
        if not refusal:
            engine.stop()
        with pytest.raises(ToolsetFault, match="disk_full: " if refusal else "engine: no Docker engine answers"):
            made(SAMPLE)


BUILDS = {
    "a step that fails": ("returned a non-zero code", "FROM nel-base:bookworm\nRUN false", ""),
    "no base image": ("nel-no-such", "FROM nel-no-such:1\n", ""),
    "a file that is not there": ("nothing", "FROM nel-base:bookworm\nCOPY nothing /\n", ""),
    "not a Dockerfile": ("unknown instruction", "HELLO\n", ""),
    "an empty Dockerfile": ("cannot be empty", "", ""),
    "a step that hangs": (
        "longer than",
        "FROM nel-base:bookworm\nRUN sleep 77\n",
        "[environment]\nbuild_timeout_sec = 2",
    ),
    "steps that never end": (
        "longer than",
        "FROM nel-base:bookworm\nRUN while :; do echo; sleep 0.2; done\n",
        "[environment]\nbuild_timeout_sec = 2",
    ),
    "no shell in the image": ("has no sh on its PATH", "FROM scratch\nCOPY Dockerfile /\n", ""),
}


@pytest.mark.parametrize(
    ("reason", "dockerfile", "toml"), representatives(BUILDS, "a step that fails", "no shell in the image")
)
def test_an_image_that_cannot_be_had_leaves_its_task_unscored(
    tmp_path: Path, client: Any, reason: str, dockerfile: str, toml: str
) -> None:
    """The others go on: it is named before the first request, and raised for its own sample alone."""
    made = environment(folder_of(tmp_path, "#!/bin/bash\n", toml, dockerfile=dockerfile))
    (note,) = made.prepare([SAMPLE], lambda line: None)
    with pytest.raises(ToolsetFault, match=reason) as fault:
        made.check(SAMPLE)
    assert fault.value.kind == "image"
    assert fault.value.detail in note
