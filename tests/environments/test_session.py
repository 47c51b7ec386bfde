"""Sessions in real containers: commands, files, snapshots, and the ends of a container."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from docker.errors import ImageNotFound, NotFound

from nel.authoring.benchmark import Benchmark
from nel.engine.episodes.tool_server import ToolServer
from nel.environments.container import ContainerSpec
from nel.environments.session import ContainerSession
from nel.environments.toolset import ContainerTools, docker
from nel.prompts import load_template
from nel.sandbox.isolation.owners import OWNER_LABEL, labels_of, reap
from nel.tools import ToolError, ToolsetFault
from nel.types import Sample
from tests.support.containers import IMAGE

pytestmark = pytest.mark.docker


@pytest.fixture
def session(client: Any) -> Iterator[ContainerSession]:
    opened = ContainerSession.open(client, ContainerSpec(image=IMAGE, memory_mb=128))
    yield opened
    opened.close()


def test_a_session_runs_commands_and_moves_files(session: ContainerSession, client: Any) -> None:
    """Commands, users and files; a snapshot holds the files, and no container is left after close."""
    ran = session.run("echo out; echo err >&2; exit 4", seconds=30, env={"A": "b"})
    assert (ran.exit, ran.stdout, ran.stderr, ran.ended_by) == (4, b"out\n", b"err\n", "exit")
    assert session.run(["whoami"], seconds=30, user="nobody").stdout == b"nobody\n"
    session.write("/app/a.bin", b"\0\xff")
    assert session.read("/app/a.bin") == b"\0\xff"
    assert "/app/a.bin" in {change.path for change in session.changes()}
    image = session.snapshot()
    copy = ContainerSession.open(client, ContainerSpec(image=image))
    assert copy.read("/app/a.bin") == b"\0\xff"
    for opened in (copy, session):
        opened.close()
    client.images.remove(image)
    assert not client.containers.list(all=True, filters={"id": session.id})


def test_a_snapshot_goes_with_its_owner(session: ContainerSession, client: Any) -> None:
    """One that a killed run left is removed by the next; that of a living process stays."""
    image = session.snapshot()
    owner = client.images.get(image).labels[OWNER_LABEL]
    ended = f"{owner.rpartition(':')[0]}:1"
    left = client.api.commit(session.id, changes=[f"LABEL {OWNER_LABEL}={ended}"])["Id"]
    reap(client)
    ids = [each["Id"] for each in client.api.images(filters={"label": "nel.sandbox=1"})]
    assert (image in ids, left in ids) == (True, False)
    client.images.remove(image)


def test_an_image_that_goes_while_snapshots_are_listed_is_no_fault(
    session: ContainerSession, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run removes its snapshot between the engine's list and a look at each image."""
    image = session.snapshot()

    def gone(*_: object) -> None:
        raise ImageNotFound("no such image")

    with monkeypatch.context() as patched:
        patched.setattr(type(client.images), "get", gone)
        reap(client)
    assert client.images.get(image).id == image
    client.images.remove(image)


def test_a_kill_for_memory_in_a_living_container_is_a_result(session: ContainerSession) -> None:
    """The command's own end says so, and the session goes on."""
    ran = session.run(["python3", "-c", "bytearray(400 << 20)"], seconds=30)
    assert (ran.exit, ran.ended_by) == (137, "memory")
    assert session.run("echo on", seconds=30).stdout == b"on\n"


def test_a_command_that_kills_its_helper_is_a_result(session: ContainerSession) -> None:
    """The container lives, and a new helper takes the next command."""
    ran = session.run("kill -9 $PPID", seconds=30)
    assert (ran.exit, ran.ended_by) == (137, "helper_killed")
    assert session.run("echo on", seconds=30).stdout == b"on\n"


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (lambda container: container.kill(), "container_died: the container was killed from outside"),
        (lambda container: container.remove(force=True), "container_died: the container was killed"),
        (lambda container: container.pause(), "container_paused"),
    ],
)
def test_the_end_of_a_container_is_not_a_commands_result(
    client: Any, session: ContainerSession, end: Callable[[Any], None], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a fault by name, whatever the engine says first."""
    monkeypatch.setattr("nel.environments.session._GRACE_SECONDS", 0.5)
    container = client.containers.get(session.id)
    end(container)
    with pytest.raises(ToolsetFault, match=kind):
        session.run("echo", seconds=0.5)


def test_a_program_that_ends_its_container_is_a_fault(session: ContainerSession) -> None:
    """The engine says "running" right after; it is asked again."""
    with pytest.raises(ToolsetFault, match="container_died"):
        session.run("kill -9 -1", seconds=30)


def test_the_tools_speak_to_the_model() -> None:
    """Outputs and exit codes are text; what the model did wrong is a `ToolError`."""
    maker = docker(image=IMAGE)
    tools = maker(Sample(id="1", input=""))
    assert isinstance(tools, ContainerTools)
    try:
        assert tools.bash.run({"command": "echo a; ls /nope"}, tools.sample).endswith("[exit code 2]")
        assert tools.python.run({"code": "print(6 * 7)"}, tools.sample) == "42\n"
        tools.write_file.run({"path": "/t/x.txt", "text": "one\ntwo\n"}, tools.sample)
        tools.edit_file.run({"path": "/t/x.txt", "old": "two", "new": "2"}, tools.sample)
        assert tools.read_file.run({"path": "/t/x.txt", "first_line": 2}, tools.sample) == "2\n"
        with pytest.raises(ToolError, match="occurs 0 times"):
            tools.edit_file.run({"path": "/t/x.txt", "old": "zzz", "new": ""}, tools.sample)
        tools.call_seconds = 0.5
        with pytest.raises(ToolError, match="took longer than"):
            tools.bash.run({"command": "echo begun; sleep 100"}, tools.sample)
    finally:
        tools.close()


def test_the_end_of_a_run_removes_a_container_whose_process_was_killed_before_it_was_started(client: Any) -> None:
    """However the run ends: the process that forks those of tools outlives it."""
    labels = labels_of("session")
    of_dead = {**labels, OWNER_LABEL: labels[OWNER_LABEL].rpartition(":")[0] + ":0"}
    created = client.api.create_container(IMAGE, command=["true"], labels=of_dead)["Id"]
    benchmark = Benchmark(
        name="b",
        description="",
        dataset=list,
        prompt=load_template("x"),
        scorer=None,
        environment=docker(image=IMAGE),
    )
    ToolServer([benchmark]).close()
    with pytest.raises(NotFound):
        client.api.inspect_container(created)
