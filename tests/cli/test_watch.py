"""`nel eval watch` shows a run as it is: at work, finished, stopped or killed; and it changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nel.cli.watch_show import lines_below
from nel.engine.observability.run_status import RunStatusReader, find_run
from nel.engine.store.lock import Owner, own_directory, owner_of
from nel.engine.store.log import Log
from nel.engine.store.snapshot import StoredSample
from nel.errors import OutputError
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.runs import nel, only_run, sums, sums_command, write_jsonl

N = 30
HELD_FROM = 12


def held_back(hold: threading.Event) -> Any:
    """Return a script that answers the first requests at once and the others once it is let go."""

    orders: dict[str, int] = {}

    def script(call: Call, _: int) -> Reply:
        order = orders.setdefault(call.text, len(orders))
        reply = answer("" if order == 3 else f"Answer: {2 * call.number + (order == 5)}")
        if order >= HELD_FROM:
            reply.wait = hold
        return reply

    return script


@contextmanager
def running(endpoint: Endpoint, cwd: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Have a run in a process of its own within the block, which begins when the first answers are there."""
    sums(cwd / "data.jsonl", N)
    command = sums_command(endpoint.url, "--concurrency", "2", *more)
    with started_nel(*command, cwd=cwd) as process:
        wait_until(lambda: len(endpoint.calls) >= HELD_FROM + 2, process)
        yield process


def until(cwd: Path, state: str, done: int) -> dict[str, Any]:
    """Wait until a run has come so far, and return a look at it; what was answered may not be on disk at once."""

    def has_come() -> bool:
        status = RunStatusReader(only_run(cwd / "out")).read()
        return status.state == state and status.done >= done

    wait_until(has_come)
    looked = nel("eval", "watch", "out", "--once", "--json", cwd=cwd)
    assert looked.returncode == 0, looked.stderr
    view: dict[str, Any] = json.loads(looked.stdout)
    assert (view["state"], view["done"] >= done) == (state, True)
    return view


def test_a_run_is_watched_to_its_end(tmp_path: Path) -> None:
    """At work it shows who, how far and what; it ends by itself, with 0, when the run does."""
    hold = threading.Event()
    with scripted(held_back(hold), models=["m"]) as endpoint, running(endpoint, tmp_path) as process:
        view = until(tmp_path, "running", HELD_FROM)
        assert view["owner"] == {"pid": process.pid, "host": socket.gethostname()}
        counts = view["benchmarks"]["gsm8k"]
        assert (counts["done"], counts["total"], counts["scored"]) == (HELD_FROM, N, HELD_FROM - 1)
        assert counts["model_failures"] == {"empty": 1}
        assert counts["score"] == pytest.approx((HELD_FROM - 2) / HELD_FROM)
        assert view["live"]["pid"] == process.pid
        shown = nel("eval", "watch", "out", "--once", cwd=tmp_path)
        assert f"running by process {process.pid} on {socket.gethostname()}" in shown.stdout
        assert f"{HELD_FROM}/{N}" in shown.stdout
        command = ("eval", "watch", "out", "--json", "--interval", "0.1")
        with started_nel(*command, cwd=tmp_path, stderr=None) as watching:
            assert watching.stdout is not None
            assert json.loads(watching.stdout.readline())["state"] == "running"
            hold.set()
            rest, _ = watching.communicate(timeout=120)
        assert watching.returncode == 0
        process.communicate(timeout=120)
        assert process.returncode == 0
    last = json.loads(rest.splitlines()[-1])
    assert (last["state"], last["done"], last["owner"], last["live"]) == ("finished", N, None, None)
    assert last["benchmarks"]["gsm8k"]["score"] == pytest.approx((N - 2) / N)


def test_a_killed_run_is_told_from_a_stopped_one(tmp_path: Path) -> None:
    """After SIGKILL it is killed, with its last sign of life; a resume and SIGINT make it stopped; both can go on."""
    with scripted(held_back(threading.Event()), models=["m"]) as endpoint:
        with running(endpoint, tmp_path, "-O", "engine.drain_seconds=0") as process:
            until(tmp_path, "running", HELD_FROM)
            process.kill()
            process.communicate(timeout=120)
        view = until(tmp_path, "killed", HELD_FROM)
        assert view["owner"] is None
        assert view["last_sign_seconds"] is not None
        run_dir = only_run(tmp_path / "out")
        shown = nel("eval", "watch", str(run_dir), cwd=tmp_path)
        assert shown.returncode == 0
        assert f"nel eval resume {run_dir}" in shown.stdout
        moved = tmp_path / "moved" / "elsewhere"
        shutil.copytree(tmp_path / "out", moved.parent)
        (moved.parent / run_dir.name).rename(moved)
        assert json.loads(nel("eval", "watch", str(moved), "--json", cwd=tmp_path).stdout)["done"] == HELD_FROM
        sent = len(endpoint.calls)
        with started_nel("eval", "resume", str(run_dir), cwd=tmp_path) as resumed:
            wait_until(lambda: len(endpoint.calls) > sent, resumed)  # before, it may not hear signals yet
            view = until(tmp_path, "running", HELD_FROM)
            assert (view["sessions"], view["owner"]["pid"]) == (2, resumed.pid)
            resumed.send_signal(signal.SIGINT)
            resumed.communicate(timeout=120)
        view = until(tmp_path, "stopped", HELD_FROM)
        assert view["reason"] == "SIGINT"
        assert "interrupted by SIGINT" in nel("eval", "watch", "out", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "there is no "),
        (lambda path: path.mkdir(), "there is no run in "),
        (lambda path: path.write_text("x"), "there is no run in "),
    ],
)
def test_nothing_to_watch_is_named(tmp_path: Path, make: Any, message: str) -> None:
    """A missing directory, an empty one and a file end with 2 and one line."""
    make(tmp_path / "runs")
    once = nel("eval", "watch", "runs", "--once", "--wait", "0.1", cwd=tmp_path)
    assert (once.returncode, "waiting for one up to 0.1 s" in once.stderr) == (2, True)
    done = nel("eval", "watch", "runs", "--wait", "0", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def store_with(run_dir: Path, *, samples: int = 4, bad: int = 0, repeats: int = 1) -> tuple[Log, int]:
    """Make a run with one benchmark in its first session."""
    run_dir.mkdir(parents=True)
    store = Log(run_dir / "run.db")
    key = store.put_benchmark("b", "b", {"repeats": repeats})
    rows = [
        StoredSample(idx, f"s{idx}", idx, None if idx < bad else "{}", "no text" if idx < bad else None)
        for idx in range(samples)
    ]
    with store.transaction():
        store.samples_of(key).add(iter(rows))
        store.begin_session()
    return store, key


def test_who_holds_a_run_is_seen_without_holding_it(tmp_path: Path) -> None:
    """The owner is known while it holds the directory, and not after; asking does not keep a run from starting."""
    assert owner_of(tmp_path) is None
    with own_directory(tmp_path):
        assert owner_of(tmp_path) == Owner(pid=os.getpid(), host=socket.gethostname())
    assert owner_of(tmp_path) is None
    finished = threading.Event()

    def ask() -> None:
        while not finished.is_set():
            owner_of(tmp_path)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(200):
            with own_directory(tmp_path):
                pass
    finally:
        finished.set()
        asking.join()


def test_a_directory_of_runs_means_the_one_at_work(tmp_path: Path) -> None:
    """Of several runs the one that somebody works on is watched, else the one begun last."""
    for name in ("a", "b"):
        store_with(tmp_path / name)[0].close()
    assert find_run(tmp_path) == tmp_path / "b"
    with own_directory(tmp_path / "a"):
        assert find_run(tmp_path) == tmp_path / "a"
        assert RunStatusReader(tmp_path / "a").read().state == "running"
    assert RunStatusReader(tmp_path / "a").read().state == "killed"
    with pytest.raises(OutputError, match="is gone"):
        RunStatusReader(tmp_path / "c").read()


def test_live_numbers_of_another_machine_count_where_its_lock_does_not(tmp_path: Path) -> None:
    """A file system without locks between machines: fresh numbers of another host mean that it is at work."""
    store_with(tmp_path / "run")[0].close()
    live = {"pid": 7, "host": "node-2", "updated": time.time(), "stage": "running", "rate": 2.0, "retries": 0}
    write_jsonl(tmp_path / "run" / "progress.json", [live])
    view = RunStatusReader(tmp_path / "run").read()
    assert (view.state, view.owner, view.seconds_left) == ("running", Owner(pid=7, host="node-2"), 2.0)
    write_jsonl(tmp_path / "run" / "progress.json", [{**live, "updated": time.time() - 3600}])
    view = RunStatusReader(tmp_path / "run").read()
    assert view.state == "killed"
    assert view.last_sign_seconds is not None
    assert view.last_sign_seconds >= 3600


def test_a_run_that_a_stop_rule_ended_says_so(tmp_path: Path) -> None:
    """The decision in run.db is read with the counts, and shown beside how many answers there are."""
    store, *_ = store_with(tmp_path / "run")
    slot = RunStatusReader(tmp_path / "run").read().benchmarks[0].slot
    store.set_meta("stopped", {slot: {"condition": "width<0.1", "reason": "narrow", "n_clusters": 5}})
    store.close()
    view = RunStatusReader(tmp_path / "run").read()
    said = f"{slot}: stopped early by width<0.1 after {view.done:,} of {view.total:,}"
    assert said in lines_below(view)
