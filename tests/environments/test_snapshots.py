"""An episode whose container is saved after each step goes on from there after a kill, or begins again."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from nel.engine.episodes.transcript import read_transcript
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.environments.changes import Change
from nel.environments.container import ContainerSpec
from nel.environments.session import ContainerSession
from nel.environments.snapshots import Snapshots, check_snapshot, forget_snapshots
from nel.sandbox.isolation.owners import RUN_LABEL, reap, snapshots_with
from nel.tools import StepAddress, ToolsetFault
from nel.types import SampleKey
from tests.episodes.bank import calling, n_results, results
from tests.support.containers import IMAGE
from tests.support.endpoint import Call, Endpoint, Reply, Script, answer, scripted
from tests.support.processes import started_nel
from tests.support.runs import nel, only_run, read_results, without_volatile
from tests.support.tiers import first_rows

pytestmark = pytest.mark.docker
SOURCE = """
from nel import benchmark, scorer
from nel.environments.toolset import docker

rows = [{"id": f"q{i}", "question": f"Work {i}.", "target": 1} for i in range(2)]
image = docker(image="IMAGE", memory_mb=128, resume="snapshot")

@benchmark(name="journal", dataset=lambda: rows, prompt="{question}", environment=image)
@scorer
def journal(sample):
    changed = sorted(sample.evidence["changed"])
    return {"correct": "/journal" in changed, "changed": changed, "n_changed": sample.evidence["n_changed"]}
"""
STEPS: Sequence[tuple[str, dict[str, Any]]] = (
    ("bash", {"command": "echo 1 >> /journal; mkdir -p /project/a; echo x > /project/a/x; chmod 600 /project/a/x"}),
    ("python", {"code": "open('/journal', 'a').write('2\\n')"}),
    ("write_file", {"path": "/project/b", "text": "old"}),
    ("read_file", {"path": "/journal"}),
    ("bash", {"command": "echo 3 >> /journal; rm -r /project/a /etc/skel; rm /etc/issue; exit 4"}),
    ("edit_file", {"path": "/project/b", "old": "old", "new": "new"}),
    ("bash", {"command": "echo 4 >> /journal; mkdir /etc/skel; echo late > /etc/skel/late"}),
    ("bash", {"command": "cat /journal /project/b; ls -l /project"}),
)
JOURNAL = "1\n2\n3\n4\nnew"
FAILPOINTS = ("before_step", "after_step", "before_tool", "after_tool")
EVENTS = ("exec_die", "top", "commit")
"""Of the engine, at which a run is killed: a helper ends, processes are counted, a snapshot is made."""


def working(call: Call, _: int) -> Reply:
    """Play a model that takes one step after the other."""
    n_taken = n_results(call)
    return calling(STEPS[n_taken]) if n_taken < len(STEPS) else answer("done")


def images_of(client: Any, folder: Path) -> list[str]:
    images = snapshots_with(client, [RUN_LABEL])
    return [image["Id"] for image in images if str(folder) in image["Labels"][RUN_LABEL]]


@pytest.fixture
def bench(client: Any, tmp_path: Path) -> Iterator[Path]:
    """Return a folder with a benchmark whose image is this test's alone, so that what is left is."""
    image = _own_image(client, tmp_path.name)
    (tmp_path / "journal.py").write_text(SOURCE.replace("IMAGE", image), encoding="utf-8")
    yield tmp_path
    left = client.api.containers(all=True, filters={"ancestor": image})
    snapshots = images_of(client, tmp_path)
    for container in left:
        client.api.remove_container(container["Id"], force=True)
    for snapshot in [*snapshots, image]:
        client.images.remove(snapshot, force=True, noprune=True)
    assert (left, snapshots) == ([], [])


def _own_image(client: Any, name: str) -> str:
    container = client.api.create_container(IMAGE, command=["true"])["Id"]
    conf = {"Labels": {"test": f"{name}-{os.getpid()}"}}
    image = str(client.api.commit(container, conf=conf)["Id"])
    client.api.remove_container(container)
    return image


def command(folder: Path, endpoint: Endpoint) -> list[str]:
    """Return the arguments that begin the folder's run, or go on with it."""
    if (folder / "out").exists():
        return ["eval", "resume", str(only_run(folder / "out"))]
    where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--episodes", "1")
    return ["eval", "run", "--bench", f"{folder / 'journal.py'}:journal", *where]


def run(folder: Path, endpoint: Endpoint, failpoint: str = "") -> int:
    """Run the benchmark, or resume it; return the exit code."""
    env = {"NEL_FAILPOINT": failpoint} if failpoint else {}
    return nel(*command(folder, endpoint), cwd=folder, env=env).returncode


def run_until_event(client: Any, folder: Path, endpoint: Endpoint, event: str, count: int) -> bool:
    """Kill a run at the so-manieth event of its containers; return whether there was one."""
    events = client.api.events(filters={"type": ["container"], "event": [event]}, decode=True)
    image = (folder / "journal.py").read_text().split('image="')[1].split('"')[0]
    family = {image}
    with started_nel(*command(folder, endpoint), cwd=folder) as process:
        ended = threading.Thread(target=lambda: (process.communicate(), events.close()))
        ended.start()
        n_seen = 0
        for seen in events:
            family |= set(images_of(client, folder))
            n_seen += seen["Actor"]["Attributes"].get("image") in family
            if n_seen == count:
                process.send_signal(signal.SIGKILL)
                break
        ended.join()
        return process.returncode != 0


@pytest.fixture(scope="module")
def whole(client: Any, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the lines of a run that was not killed."""
    folder = tmp_path_factory.mktemp("whole")
    image = _own_image(client, folder.name)
    (folder / "journal.py").write_text(SOURCE.replace("IMAGE", image), encoding="utf-8")
    with scripted(working) as endpoint:
        assert run(folder, endpoint) == 0
    assert not images_of(client, folder)
    client.images.remove(image, force=True)
    return lines_of(folder)


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return without_volatile(read_results(only_run(folder / "out"), "journal"))


def attempts_of(folder: Path) -> list[int]:
    lines = read_results(only_run(folder / "out"), "journal")
    return [line["timing"]["episode"]["attempts"] for line in lines]


def check_resumed(folder: Path, endpoint: Endpoint, whole: list[dict[str, Any]]) -> None:
    """Compare what a killed and resumed run came to with one that was not killed.

    Each line of the journal is there once: an interrupted call is undone, and run again.
    """
    assert lines_of(folder) == whole
    assert attempts_of(folder) == [1, 1]
    lasts = [results(call)[-1] for call in endpoint.calls if n_results(call) == len(STEPS)]
    assert {last.partition("total")[0] for last in lasts} == {JOURNAL}
    assert endpoint.resent() <= 1


@pytest.mark.parametrize(
    ("moment", "count"),
    first_rows(1, [("after_tool", 4), ("before_tool", 7), *itertools.product(FAILPOINTS, (1, 3, 8, 13, 15, 20, 29))]),
)
def test_an_episode_goes_on_from_its_last_snapshot(
    bench: Path, client: Any, whole: list[dict[str, Any]], moment: str, count: int
) -> None:
    """Killed between two steps, within a tool, or before its result is stored; nothing is left over."""
    with scripted(working) as endpoint:
        if run(bench, endpoint, f"{moment}:{count}") != 0:
            assert run(bench, endpoint) == 0
        check_resumed(bench, endpoint, whole)


@pytest.mark.parametrize(
    ("event", "count"), first_rows(1, [("commit", 3), *itertools.product(EVENTS, (1, 2, 4, 5, 7, 9, 11))])
)
def test_an_episode_survives_a_kill_at_an_event_of_its_container(
    bench: Path, client: Any, whole: list[dict[str, Any]], event: str, count: int
) -> None:
    """Killed while the engine works for a tool, and before the run hears of it."""
    with scripted(working) as endpoint:
        if run_until_event(client, bench, endpoint, event, count):
            assert run(bench, endpoint) == 0
        check_resumed(bench, endpoint, whole)


@pytest.mark.slow
def test_a_run_may_be_killed_many_times(bench: Path, client: Any, whole: list[dict[str, Any]]) -> None:
    """Each session takes a few steps; the changes against the image are those of all sessions."""
    with scripted(working) as endpoint:
        for _ in range(20):
            if run(bench, endpoint, "after_step:7") == 0:
                break
        assert lines_of(bench) == whole
        assert endpoint.resent() == 0


def test_a_run_that_stopped_keeps_its_snapshots(bench: Path, client: Any, whole: list[dict[str, Any]]) -> None:
    """A spent budget ends the session, and not the episodes; they go with the directory of their run, too."""
    with scripted(working) as endpoint:
        assert nel(*command(bench, endpoint), "--max-requests", "5", cwd=bench).returncode == 75
        assert images_of(client, bench)
        pruned = nel("sandbox", "prune", cwd=bench).stdout
        assert f"nel eval resume {only_run(bench / 'out')} goes on" in pruned
        more = ("-O", "budget.max_requests=8")
        assert nel(*command(bench, endpoint), *more, cwd=bench).returncode == 75
        assert (endpoint.resent(), len(endpoint.calls)) == (0, 8)
        shutil.rmtree(bench / "out")
        nel("sandbox", "prune", cwd=bench)
        assert not images_of(client, bench)


def leaving(call: Call, repeat: int) -> Reply:
    """Play a model whose first call leaves a process behind."""
    reply = working(call, repeat)
    return reply if n_results(call) else calling(("bash", {"command": "echo 1 >> /journal; sleep 600 &"}))


@pytest.mark.parametrize(
    ("script", "is_removed", "why"),
    first_rows(1, [(working, True, "was removed"), (leaving, False, "holds no processes")]),
    ids=["removed", "never-made"],
)
def test_without_a_snapshot_the_episode_begins_again(
    bench: Path, client: Any, script: Script, is_removed: bool, why: str
) -> None:
    """One that is gone or was never made: never another state, and the log says why."""
    with scripted(script) as endpoint:
        assert run(bench, endpoint, "after_step:3") != 0
        for image in images_of(client, bench) if is_removed else ():
            client.images.remove(image, noprune=True)
        assert run(bench, endpoint) == 0
        lasts = [results(call)[-1] for call in endpoint.calls if n_results(call) == len(STEPS)]
    assert [last.startswith(JOURNAL) for last in lasts] == [True, True]
    assert attempts_of(bench) == [2, 1]
    with Snapshot(only_run(bench / "out") / FILE_NAME) as snapshot:
        first, _ = read_transcript(snapshot, SampleKey(1, 0, 0))
    assert why in str(first.why_ended)


@pytest.mark.parametrize(
    ("modes", "attempts"), first_rows(1, [(("snapshot", "restart"), 1), (("restart", "snapshot"), 2)])
)
def test_a_resume_may_ask_for_snapshots_or_no_longer(
    bench: Path, whole: list[dict[str, Any]], modes: tuple[str, str], attempts: int
) -> None:
    """Calls without a snapshot begin the episode again; those with one are gone on from, and leave none."""
    source = (bench / "journal.py").read_text(encoding="utf-8")
    with scripted(working) as endpoint:
        for mode, failpoint, ends in zip(modes, ("after_step:5", ""), (False, True), strict=True):
            (bench / "journal.py").write_text(source.replace('"snapshot"', f'"{mode}"'), encoding="utf-8")
            assert (run(bench, endpoint, failpoint) == 0) == ends
    assert lines_of(bench) == whole
    assert attempts_of(bench) == [attempts, 1]


@pytest.fixture
def session(client: Any) -> Iterator[ContainerSession]:
    """Open a container; close it and forget its snapshots."""
    opened = ContainerSession.open(client, ContainerSpec(image=IMAGE))
    yield opened
    opened.close()
    forget_snapshots(None, address(0))


@pytest.mark.parametrize(
    ("do", "why"),
    [
        ("sleep 60 & echo $! > /pid", "processes"),
        ("echo x > /dev/shm/x", "shared memory"),
        ("echo x > /dev/x", "in /dev"),
        ("echo 127.0.0.1 here >> /etc/hosts", "mounts"),
    ],
)
def test_a_state_that_an_image_does_not_hold_has_no_snapshot(
    client: Any, session: ContainerSession, do: str, why: str
) -> None:
    """Processes, shared memory and mounted files; the next step without them has one again."""
    snapshots = Snapshots(client, session)
    session.run(do, seconds=30)
    with pytest.raises(ToolsetFault, match=why):
        snapshots.take(address(1))
    session.run(
        "kill $(cat /pid); rm -f /dev/x /dev/shm/x; sed '/here/d' /etc/hosts > /h; cat /h > /etc/hosts", seconds=30
    )
    assert snapshots.take(address(2))


def test_a_snapshot_takes_no_program_of_the_container(client: Any, session: ContainerSession) -> None:
    """An agent that removed `ls`, `cat` and the shells goes on with snapshots."""
    snapshots = Snapshots(client, session)
    assert session.run("rm /bin/ls /bin/cat /bin/bash /bin/sh", seconds=30).exit == 0
    assert snapshots.take(address(1))


def test_a_process_is_not_taken_for_a_helper_that_was_killed(client: Any, session: ContainerSession) -> None:
    """As many processes as there should be, and the helper is not among them."""
    snapshots = Snapshots(client, session)
    session.run("helper=$PPID; mkfifo /go; (read _ < /go; kill -9 $helper; exec sleep 600) &", seconds=30)
    client.api.exec_start(client.api.exec_create(session.id, ["sh", "-c", "echo > /go"])["Id"])
    while "/.nel-helper" in str(client.api.top(session.id)):
        pass
    with pytest.raises(ToolsetFault, match="snapshot"):
        snapshots.take(address(1))


def address(number: int, log: str = "/nowhere/run.db") -> StepAddress:
    return StepAddress(log=log, episode=f"0/0/{os.getpid()}", attempt=0, number=number)


def test_snapshots_are_made_where_something_changed_and_two_are_kept(client: Any, tmp_path: Path) -> None:
    """A file that is read makes none; one is checked against its step and its image before it is opened."""
    session = ContainerSession.open(client, ContainerSpec(image=IMAGE))
    log = tmp_path / "run.db"
    log.touch()
    steps = [address(number, str(log)) for number in range(6)]
    try:
        snapshots = Snapshots(client, session)
        taken = [snapshots.take(steps[0])]
        for step in steps[1:4]:
            session.write("/a", str(step.number).encode())
            taken.append(snapshots.take(step))
        session.read("/a")
        assert snapshots.take(steps[4]) == taken[-1]
        assert set(images_of(client, tmp_path)) == set(taken[-2:])
        check_snapshot(client, IMAGE, taken[-1], steps[3])
        for image, snapshot, step in (
            (IMAGE, taken[0], steps[0]),
            (IMAGE, taken[-1], steps[2]),
            (taken[-2], taken[-1], steps[3]),
        ):
            with pytest.raises(ToolsetFault, match="snapshot"):
                check_snapshot(client, image, snapshot, step)
        assert reap(client).needed_by[str(log)] == 2
        log.unlink()
        reap(client)
        assert not images_of(client, tmp_path)
    finally:
        session.close()
        forget_snapshots(None, steps[0])


def test_changes_are_against_the_image_and_not_the_snapshot(client: Any) -> None:
    """A path that is removed and made again is changed; one that comes and goes is nothing."""
    commands = (
        "echo a > $'/new\\n\\377\\303'; mkdir /folder; echo b > /folder/file; rm -r /etc/skel; echo x >> /etc/issue",
        "rm -r /folder; mkdir /etc/skel; echo c > /etc/skel/late; rm /etc/issue; rm /etc/debian_version",
    )
    sessions = [ContainerSession.open(client, ContainerSpec(image=IMAGE))]
    try:
        for text in commands:
            sessions[0].run(text, seconds=30)
        expected = sessions[0].changes()
        sessions.append(ContainerSession.open(client, ContainerSpec(image=IMAGE)))
        sessions[1].run(commands[0], seconds=30)
        snapshot = sessions[1].snapshot()
        sessions.append(ContainerSession.open(client, ContainerSpec(image=IMAGE), snapshot=snapshot))
        sessions[2].run(commands[1], seconds=30)
        assert sorted(sessions[2].changes(), key=path_of) == sorted(expected, key=path_of)
    finally:
        for session in reversed(sessions):
            session.close()
        client.images.remove(snapshot, noprune=True)


def path_of(change: Change) -> str:
    return change.path
