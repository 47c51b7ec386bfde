"""The helper of a container, run here as a process: commands and files over its frames."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nel.environments import helper as module
from nel.environments.helper import SIZES, BoundedOutput


class Pipe:
    """A helper's two ends."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.receive()

    def receive(self) -> tuple[dict[str, Any], bytes]:
        assert self.process.stdout is not None
        n_header, n_body = SIZES.unpack(self.process.stdout.read(SIZES.size))
        return json.loads(self.process.stdout.read(n_header)), self.process.stdout.read(n_body)

    def ask(self, body: bytes = b"", **request: object) -> tuple[dict[str, Any], bytes]:
        defaults = {"number": 1, "do": "run", "seconds": 20, "bytes_max": 1 << 20, "merge": False}
        defaults |= {"env": {}, "user": "", "cwd": "/", "path": "", "mode": None}
        header = json.dumps(defaults | request).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(SIZES.pack(len(header), len(body)) + header + body)
        self.process.stdin.flush()
        return self.receive()

    def sh(self, text: str, **request: object) -> tuple[dict[str, Any], bytes]:
        return self.ask(argv=["sh", "-c", text], **request)


@pytest.fixture
def helper() -> Iterator[Pipe]:
    code = "import sys; scope = {'__name__': 'helper'}; exec(open(sys.argv[1]).read(), scope); scope['main']()"
    argv = [sys.executable, "-I", "-S", "-c", code, str(module.__file__)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Pipe(process)
        assert process.stdin is not None
        process.stdin.close()


def test_bytes_pass_through_as_they_are(helper: Pipe) -> None:
    """Input and outputs are binary, and kept apart."""
    data = bytes(range(256)) * 2000
    reply, output = helper.ask(data, argv=["sh", "-c", "cat; printf e >&2; exit 3"])
    assert (reply["exit"], reply["ended_by"]) == (3, "exit")
    assert (output[: reply["n_stdout"]], output[reply["n_stdout"] :]) == (data, b"e")


def test_a_late_command_is_killed_with_what_it_started(helper: Pipe) -> None:
    """A timeout ends the whole session, and says so."""
    reply, output = helper.sh("sleep 1000 & echo $!; sleep 1000", seconds=0.3)
    assert (reply["ended_by"], reply["exit"]) == ("timeout", 137)
    state = Path(f"/proc/{int(output)}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_process_in_the_background_delays_nothing_and_goes_on(helper: Pipe, tmp_path: Path) -> None:
    """Its output is dropped once its command has ended, and its pipe is not closed."""
    fifo = tmp_path / "fifo"
    reply, output = helper.sh(f"mkfifo {fifo}; (cat {fifo}; echo more; echo went on > {fifo}.txt) & echo started")
    assert (reply["ended_by"], output) == ("exit", b"started\n")
    helper.sh(f"echo go > {fifo}; while [ ! -s {fifo}.txt ]; do :; done")
    assert Path(f"{fifo}.txt").read_text() == "went on\n"


def test_head_and_tail_of_a_long_output_are_kept() -> None:
    """What is in memory is bounded, whatever is written."""
    output = BoundedOutput(10)
    for number in range(1000):
        output.add(b"%03d " % number)
    assert (output.ends(), output.size) == (b"000 0 999 ", 4000)


def test_files_are_written_and_read_as_bytes(helper: Pipe, tmp_path: Path) -> None:
    """Folders are made; one that is too large or not there is an error of the command."""
    path = str(tmp_path / "a" / "b.bin")
    data = bytes(range(256)) * 100
    assert helper.ask(data, do="write", path=path, mode=0o600)[0]["exit"] == 0
    assert helper.ask(do="read", path=path)[1] == data
    reply, output = helper.ask(do="read", path=path, bytes_max=200)
    assert reply["exit"] == 1
    assert output.endswith(b"25,600 bytes, which is too much\n")
    assert b"No such file" in helper.ask(do="read", path=f"{path}x")[1]
