"""The process itself: signals, closed pipes, strange terminals, a second owner, and what it may reach."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.engine.observability.progress_file import read_progress_file
from tests.faults.invariants import no_secret, nothing_paid_twice, read_run, same_artifacts
from tests.faults.runs import ROOT, config, environment, nel_cli, run, start, write_config
from tests.faults.server import HANGS_SECONDS, Call, Do, Gate, Reply, right, serving, wait_until
from tests.support.runs import only_run
from tests.support.tiers import first_rows, representatives

SLOW = 0.03
PATIENT = {f"{name}_timeout_seconds": 600 for name in ("first_byte", "idle", "total")}


def _slow(call: Call) -> Reply:
    return [SLOW, *right(call)]


_SHELL = """
import fcntl, os, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
"""
"""Of a terminal: as its own session, with the terminal in control of it."""


class Held:
    """Answers right, but holds the answers from each of some requests on until it may go on."""

    def __init__(self, *numbers: int) -> None:
        self._gates = [(number, threading.Event()) for number in numbers]

    def __call__(self, call: Call) -> Reply:
        return [*(Gate(gate) for number, gate in self._gates if call.order >= number), *right(call)]

    def go_on(self) -> None:
        """Let the first of those go that are held."""
        self._gates.pop(0)[1].set()


def _signal(process: Any, tmp_path: Path, number: signal.Signals = signal.SIGINT, *, times: int = 1) -> None:
    """Send a signal, and wait until the run has heard of it as often as that."""
    process.send_signal(number)
    log = only_run(tmp_path / "out") / "run.log"
    wait_until(lambda: log.read_text().count('"event": "stopping"') >= times, "run.log says that the run stops")


@pytest.mark.parametrize(
    ("number", "code"),
    representatives([(signal.SIGINT, 130), (signal.SIGTERM, 143)], "f55-sigterm", ids=["f55-sigint", "f55-sigterm"]),
)
def test_one_signal_drains(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """What is in flight is finished and kept, nothing new is sent, partial artifacts say so, and a resume completes."""
    held = Held(20)
    with serving(held) as server:
        path = write_config(tmp_path, server.url, n=200)
        process = start(["eval", "run", str(path)], tmp_path)
        server.wait_for(24)
        _signal(process, tmp_path, number)
        held.go_on()
        _, stderr = process.communicate(timeout=HANGS_SECONDS)
        sent = len(server.calls)
        assert (process.returncode, sent) == (code, 24)
        assert "nel eval resume" in stderr
        ran = read_run(only_run(tmp_path / "out"), code)
        assert ran.metrics["complete"] is False
        assert ran.accounting["n_scored"] == sent, "an answer that was paid for is not kept"
        assert ran.accounting["unscored"]["cancelled"]["n"] == 200 - sent
        again = run(tmp_path, server, n=200, resume=True)
        nothing_paid_twice(server)
        assert len(server.calls) == 200
    assert again.states == ["scored"] * 200


@pytest.mark.slow
def test_f55_a_hanging_request_is_given_up_after_the_drain_time(tmp_path: Path) -> None:
    """One request that never returns does not hold the end longer than drain_seconds."""
    with serving({30: [Do.HANG]}, models=None) as server:
        path = write_config(tmp_path, server.url, n=60, engine={"drain_seconds": 0.5}, endpoint=PATIENT)
        process = start(["eval", "run", str(path)], tmp_path)
        server.wait_for(60)
        run_dir = only_run(tmp_path / "out")
        wait_until(lambda: (read_progress_file(run_dir) or {}).get("done") == 59, "all others are done")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANGS_SECONDS)
    assert process.returncode == 130
    ran = read_run(only_run(tmp_path / "out"), 130)
    assert ran.accounting["n_scored"] == 59
    assert ran.rows[30]["outcome"]["cause"] == "cancelled"


def test_f55_twice_leaves_at_once(tmp_path: Path) -> None:
    """A second Ctrl-C does not wait; what was answered before is kept, and a resume completes."""
    with serving(lambda call: [Do.HANG] if call.order > 20 else right(call)) as server:
        path = write_config(tmp_path, server.url, n=60, engine={"drain_seconds": 600}, endpoint=PATIENT)
        process = start(["eval", "run", str(path)], tmp_path)
        server.wait_for(25)
        _signal(process, tmp_path)
        assert process.poll() is None
        wait_until(lambda: process.send_signal(signal.SIGINT) or process.poll() is not None, "a later Ctrl-C ends it")
        process.communicate(timeout=HANGS_SECONDS)
        assert process.returncode == 130
    with serving() as server:
        done = nel_cli(
            ["eval", "resume", str(only_run(tmp_path / "out")), "--allow-url-change",
             "-O", f"endpoint.url={server.url}"], tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(server.calls) <= 60 - 21 + 4
    assert read_run(only_run(tmp_path / "out"), 0).states == ["scored"] * 60


BLOCKING = """
import os, re, time
from nel import benchmark, scorer

async def solve(sample, episode):
    reply = await episode.ask()
    if not os.path.exists("goes on"):
        WAIT
    return reply.text

@benchmark(name="b", dataset=[{"question": "What is 0 plus 0?", "answer": "0"}].copy, prompt="{question}",
           target_field="answer", solver=solve)
@scorer
def b(sample):
    return True
"""
WAITS = {
    "sleep": "time.sleep(1000)",
    "loop": "while True: pass",
    "swallowed": "while True:\n            try: time.sleep(1000)\n            except BaseException: pass",
    "pattern": "re.match('(a+)+$', 'a' * 60 + 'b')",
}


@pytest.mark.parametrize("wait", representatives(WAITS, "loop", "pattern"))
def test_a_solver_that_blocks_the_event_loop(tmp_path: Path, wait: str) -> None:
    """Signals end the run whatever the loop does; a resume goes on with the answers that are stored, to the end."""
    (tmp_path / "b.py").write_text(BLOCKING.replace("WAIT", wait))
    with serving() as server:
        where = ["--model-url", server.url, "--model-id", "m", "-o", "out"]
        process = start(["eval", "run", "--bench", "b.py", *where], tmp_path)
        server.wait_for(1)
        wait_until(lambda: process.send_signal(signal.SIGINT) or process.poll() is not None, "it ends")
        process.communicate(timeout=HANGS_SECONDS)
        assert process.returncode == 130
        (tmp_path / "goes on").touch()
        resumed = nel_cli(["eval", "resume", str(only_run(tmp_path / "out"))], tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert len(server.calls) == 1, "an answer that was paid for is asked again"


@pytest.mark.slow
def test_a_solver_that_blocks_the_event_loop_is_named(tmp_path: Path) -> None:
    """The line in which it does is on stderr while it still does it."""
    (tmp_path / "b.py").write_text(BLOCKING.replace("WAIT", WAITS["sleep"]))
    with serving() as server:
        where = ["--model-url", server.url, "--model-id", "m", "-o", "out"]
        process = start(["eval", "run", "--bench", "b.py", *where], tmp_path)
        shown = next(line for line in process.stderr if "blocked" in line)
        process.kill()
        process.communicate()
    assert f"by solve ({tmp_path / 'b.py'}, line 8)" in shown


def test_f55_a_closed_terminal(tmp_path: Path) -> None:
    """Its shell and the kernel send SIGHUP each: what is in flight is finished and kept, and `watch` says what it was."""
    held = Held(10)
    with serving(held) as server:
        path = write_config(tmp_path, server.url, n=60)
        leader, follower = pty.openpty()
        shell = subprocess.Popen(
            [sys.executable, "-c", _SHELL], cwd=tmp_path, env=environment({"TERM": "xterm"}), stdin=follower,
            stdout=follower, stderr=follower, start_new_session=True,
        )  # fmt: skip
        os.close(follower)
        os.mkfifo(tmp_path / "leaves")
        os.write(leader, f"trap 'cat leaves' EXIT; {sys.executable} -m nel eval run {path}\n".encode())
        server.wait_for(14)
        run_dir = only_run(tmp_path / "out")
        os.close(leader)
        wait_until(lambda: '"event": "stopping"' in (run_dir / "run.log").read_text(), "the run stops")
        (tmp_path / "leaves").write_bytes(b"")  # opens once the shell has sent its own and is about to leave
        held.go_on()
        shell.wait(HANGS_SECONDS)  # it may wait for the run
        watched = nel_cli(["eval", "watch", str(run_dir)], tmp_path)
        assert "interrupted by SIGHUP; every answer so far is kept" in watched.stdout
        sent = len(server.calls)
        wait_until((run_dir / "report.html").is_file, "all artifacts are written")
        assert read_run(run_dir, 75).accounting["n_scored"] == sent, "an answer that was paid for is not kept"
        ran = run(tmp_path, server, n=60, resume=True)
        nothing_paid_twice(server)
    assert ran.states == ["scored"] * 60


@pytest.mark.slow
def test_f55_nohup(tmp_path: Path) -> None:
    """A run that was started with SIGHUP ignored goes on."""
    held = Held(10)
    with serving(held) as server:
        path = write_config(tmp_path, server.url, n=30)
        process = start(["eval", "run", str(path)], tmp_path, limits="trap '' HUP")
        server.wait_for(14)
        process.send_signal(signal.SIGHUP)
        held.go_on()
        process.communicate(timeout=HANGS_SECONDS)
    assert process.returncode == 0
    assert read_run(only_run(tmp_path / "out"), 0).states == ["scored"] * 30


def test_f52_a_run_directory_that_is_removed(tmp_path: Path) -> None:
    """SQLite writes on to a file without a name: the run stops, instead of paying for answers that nothing keeps."""
    held = Held(10)
    with serving(held) as server:
        path = write_config(tmp_path, server.url, n=60)
        process = start(["eval", "run", str(path)], tmp_path)
        server.wait_for(14)
        shutil.rmtree(tmp_path / "out")
        held.go_on()
        _, said = process.communicate(timeout=HANGS_SECONDS)
        assert len(server.calls) <= 24
    assert process.returncode == 2
    assert "was removed, moved or replaced while the run wrote to it; start a new run" in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_f56_stdout_is_closed(tmp_path: Path) -> None:
    """``| head -c 0``: the run goes to its end and all is written."""
    with serving(_slow) as server:
        path = write_config(tmp_path, server.url, n=30)
        reading, writing = os.pipe()
        process = start(["eval", "run", str(path)], tmp_path, stdout=writing)
        os.close(writing)
        os.close(reading)
        _, stderr = process.communicate(timeout=HANGS_SECONDS)
    assert process.returncode == 0
    assert "Traceback" not in stderr
    assert "Exception ignored" not in stderr
    assert read_run(only_run(tmp_path / "out"), 0).states == ["scored"] * 30


@pytest.mark.parametrize("what", first_rows(1, ["stdout", "stderr"]), ids=["f56-stdout-full", "f56-stderr-full"])
def test_an_output_that_cannot_be_written(tmp_path: Path, what: str) -> None:
    """/dev/full as a standard stream does not stop the run; a lost result is said, and in the exit code."""
    with serving(_slow) as server, Path("/dev/full").open("w") as full:
        path = write_config(tmp_path, server.url, n=30)
        process = start(["eval", "run", str(path)], tmp_path, **{what: full})
        _, stderr = process.communicate(timeout=HANGS_SECONDS)
    assert read_run(only_run(tmp_path / "out"), 0).states == ["scored"] * 30
    if what == "stderr":
        assert process.returncode == 0
    else:
        assert process.returncode == 75
        assert "the result could not be printed (No space left on device); it is in " in stderr
        assert "Traceback" not in stderr


def test_few_open_files_lower_the_concurrency_and_lose_nothing(tmp_path: Path) -> None:
    """``ulimit -n 48``: every sample is scored, and the terminal and run.log say why fewer requests are in flight."""
    with serving() as server:
        path = write_config(tmp_path, server.url, n=90, engine={"concurrency": 64})
        process = start(["eval", "run", str(path)], tmp_path, limits="ulimit -n 48")
        _, stderr = process.communicate(timeout=HANGS_SECONDS)
    run_dir = only_run(tmp_path / "out")
    assert read_run(run_dir, 0).states == ["scored"] * 90
    assert "nel: this process may open 48 files (ulimit -n), so at most " in stderr
    assert "this process may open 48 files" in (run_dir / "run.log").read_text()


@pytest.mark.slow
def test_no_file_may_have_a_byte(tmp_path: Path) -> None:
    """``ulimit -f 0``, like a quota that is used up: refused in one line, and nothing is asked."""
    with serving() as server:
        path = write_config(tmp_path, server.url)
        process = start(["eval", "run", str(path)], tmp_path, limits="ulimit -f 0")
        _, stderr = process.communicate(timeout=HANGS_SECONDS)
        assert server.calls == []
    assert process.returncode == 2
    assert "Traceback" not in stderr
    assert stderr.splitlines()[-1].endswith("File too large; choose another --output-dir")


@pytest.mark.parametrize(
    "env",
    first_rows(
        1,
        [
            {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONIOENCODING": "ascii", "COLUMNS": "20"},
            {"COLUMNS": "1", "HOME": "/nonexistent", "TERM": ""},
            {"COLUMNS": "nonsense", "TERM": "dumb"},
        ],
    ),
    ids=["f56-lang-c", "f56-ascii-narrow", "f56-no-home-no-width", "f56-nonsense"],
)
def test_a_poor_environment(tmp_path: Path, env: dict[str, str]) -> None:
    """No UTF-8, no width, no home: the run works and prints something, without a traceback."""
    with serving() as server:
        path = write_config(tmp_path, server.url, n=3, generation={"extra": {"user": "Zoë 🙂"}})
        process = start(["eval", "run", str(path)], tmp_path, env=env, text=False)
        stdout, stderr = process.communicate(timeout=HANGS_SECONDS)
    assert process.returncode == 0, stderr
    assert b"Traceback" not in stderr
    assert b"gsm8k" in stdout.replace(b"\n", b"") or env.get("COLUMNS") == "1"
    assert read_run(only_run(tmp_path / "out"), 0).states == ["scored"] * 3


@pytest.mark.slow
def test_f56_on_a_terminal(tmp_path: Path) -> None:
    """On a terminal of 20 columns the live line does not crash the run."""
    with serving(_slow) as server:
        path = write_config(tmp_path, server.url, n=40)
        leader, follower = pty.openpty()
        process = start(
            ["eval", "run", str(path)], tmp_path, env={"COLUMNS": "20", "TERM": "xterm"},
            stdout=follower, stderr=follower, stdin=follower,
        )  # fmt: skip
        os.close(follower)
        seen = b""
        try:
            while block := os.read(leader, 65536):
                seen += block
        except OSError:
            pass  # EIO: the other side is closed
        finally:
            os.close(leader)
        assert process.wait(HANGS_SECONDS) == 0
    assert b"Traceback" not in seen
    no_secret(seen)


@pytest.mark.slow
def test_f54_runs_of_one_second_do_not_meet(tmp_path: Path) -> None:
    """Runs that start at the same moment into one parent get directories of their own."""
    with serving() as server:
        path = write_config(tmp_path, server.url, n=3)
        both = [start(["eval", "run", str(path)], tmp_path) for _ in range(2)]
        for process in both:
            process.communicate(timeout=HANGS_SECONDS)
            assert process.returncode == 0
        for _ in range(3):
            run(tmp_path, server)
    runs = sorted(found.parent for found in (tmp_path / "out").glob("*/run.db"))
    assert len(runs) == 5
    for run_dir in runs:
        assert read_run(run_dir, 0).states == ["scored"] * 3


def test_f54_a_taken_name_is_refused(tmp_path: Path) -> None:
    """A second fresh run of the same name overwrites nothing and sends nothing."""
    with serving() as server:
        settings = config(tmp_path, server.url)
        settings["output"]["run_id"] = "mine"
        first = nel.evaluate(settings)
        before = {path: path.read_bytes() for path in first.run_dir.rglob("*.json*")}
        with pytest.raises(nel.NelError, match="already exists"):
            nel.evaluate(settings)
        assert len(server.calls) == 3
    assert {path: path.read_bytes() for path in first.run_dir.rglob("*.json*")} == before


OFFLINE = """
import fcntl, json, socket, struct, sys
with socket.socket() as s:
    name = b"lo".ljust(16, bytes(1))
    flags = struct.unpack("16sh", fcntl.ioctl(s, 0x8913, struct.pack("16sh", name, 0)))[1]
    fcntl.ioctl(s, 0x8914, struct.pack("16sh", name, flags | 1))
reached = []
def hook(event, args):
    if event == "socket.connect":
        reached.append(str(args[1]))
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        reached.append(str(args[0]))
    elif event == "urllib.Request":
        reached.append(str(args[0]))
sys.addaudithook(hook)
from pathlib import Path
from tests.faults.runs import run
from tests.faults.server import serving
with serving(models=["m"]) as server:
    ran = run(Path(sys.argv[1]), server, n=5, engine={"preflight": True})
    print(json.dumps({"exit": ran.exit_code, "states": ran.states, "reached": reached, "port": server.port}))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a network of its own needs root")
def test_f119_a_run_needs_its_endpoint_only(tmp_path: Path) -> None:
    """In a network that is loopback alone a run works, and it tries to reach nothing but its endpoint."""
    command = ["unshare", "--net", sys.executable, "-c", OFFLINE, str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=HANGS_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert (told["exit"], told["states"]) == (0, ["scored"] * 5)
    strangers = [where for where in told["reached"] if "127.0.0.1" not in where and "docker.sock" not in where]
    assert strangers == []


def test_f112_no_secret_in_the_process_table(tmp_path: Path) -> None:
    """The key stands in no command line of the run or of its children."""
    held = Held(10)
    with serving(held) as server:
        path = write_config(tmp_path, server.url, n=60)
        process = start(["eval", "run", str(path)], tmp_path)
        server.wait_for(14)
        family = [process.pid]
        for found in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(found.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == process.pid:
                family.append(int(found.parent.name))
        titles = [Path(f"/proc/{process.pid}/cmdline").read_bytes()]
        for pid in family[1:]:
            with suppress(OSError):  # a child may end meanwhile
                titles.append(Path(f"/proc/{pid}/cmdline").read_bytes())
        held.go_on()
        process.communicate(timeout=HANGS_SECONDS)
    assert b"eval" in titles[0]
    no_secret(*titles)


@pytest.mark.slow
def test_f55_a_run_that_was_stopped_equals_one_that_was_not(tmp_path: Path) -> None:
    """I3: three interruptions and resumes end in the artifacts of a run in one go."""
    with serving() as server:
        whole = run(tmp_path, server, n=120, out="whole")
    held = Held(15, 40, 70)
    with serving(held) as server:
        path = write_config(tmp_path, server.url, n=120)
        process = start(["eval", "run", str(path)], tmp_path)
        for times, stop_at in enumerate((15, 40, 70), start=1):
            server.wait_for(stop_at + 4)
            _signal(process, tmp_path, times=times)
            held.go_on()
            process.communicate(timeout=HANGS_SECONDS)
            process = start(["eval", "resume", str(only_run(tmp_path / "out"))], tmp_path)
        process.communicate(timeout=HANGS_SECONDS)
        assert process.returncode == 0
        nothing_paid_twice(server)
    same_artifacts(whole, read_run(only_run(tmp_path / "out"), 0))
