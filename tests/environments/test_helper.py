"""The helper of a container, run here as a process: commands, files and an agent's connections over its frames."""

from __future__ import annotations

import hashlib
import platform
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nel.environments import frames
from nel.environments.frames import Value, helper_digest, helper_program, pack_frame
from nel.environments.looking import pack_paths, unpack_facts

FOLDER = Path(frames.__file__).with_name("helper")
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


class Pipe:
    """A helper's two ends."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.facts = self.receive()[0]

    def read(self, size: int, deadline: float) -> bytearray:
        assert self.process.stdout is not None
        data = bytearray(self.process.stdout.read(size))
        if len(data) < size:
            raise ConnectionError("it hung up")
        return data

    def receive(self) -> tuple[dict[str, str], bytes]:
        return frames.read_frame(self, 0.0)  # type: ignore[arg-type]  # it reads and no more

    def send(self, fields: dict[str, Value], body: bytes = b"") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(pack_frame(fields, body))
        self.process.stdin.flush()

    def ask(self, body: bytes = b"", **request: Value) -> tuple[dict[str, str], bytes]:
        defaults: dict[str, Value] = {"number": 1, "do": "run", "seconds": 20, "bytes_max": 1 << 20, "cwd": "/"}
        self.send(defaults | request, body)
        return self.receive()

    def sh(self, text: str, **request: Value) -> tuple[dict[str, str], bytes]:
        return self.ask(arg=["sh", "-c", text], **request)


@pytest.fixture(params=list(MACHINES))
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Pipe]]:
    """Return what starts a helper: of this machine, or of another by an emulator."""
    emulator: list[str] = []
    if platform.machine() != MACHINES[request.param]:
        path = shutil.which(f"qemu-{MACHINES[request.param]}-static")
        if path is None:
            pytest.skip("no emulator of this machine (apt-get install qemu-user-static)")
        emulator = [path]
    program = tmp_path / "helper"
    program.write_bytes(helper_program(request.param))
    program.chmod(0o700)
    started = []

    def pipe(*arguments: str) -> Pipe:
        argv = [*emulator, str(program), *arguments]
        started.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        return Pipe(started[-1])

    yield pipe
    for process in started:
        with process:
            assert process.stdin is not None
            process.stdin.close()


@pytest.fixture
def helper(start: Callable[..., Pipe]) -> Pipe:
    return start()


def is_running(pid: bytes) -> bool:
    state = Path(f"/proc/{int(pid)}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_programs_are_those_of_the_source() -> None:
    """Whoever changes the source builds them again; that the bytes are those of a build is checked with the compiler."""
    sums = dict(reversed(line.split()) for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
    built = {f"helper-{name}": helper_digest(name) for name in MACHINES}
    source = hashlib.sha256((FOLDER / "helper.c").read_bytes()).hexdigest()
    assert sums == {"helper.c": source, **built}, "run: make helper"


def test_a_text_with_a_zero_byte_is_refused() -> None:
    """It would be the next field of the header."""
    with pytest.raises(ValueError, match="zero byte"):
        pack_frame({"do": "run", "arg": ["sh", "-c", "echo\0user=root"]})


def test_bytes_pass_through_as_they_are(helper: Pipe) -> None:
    """Input and outputs are binary, and kept apart."""
    data = bytes(range(256)) * 2000
    reply, output = helper.ask(data, arg=["sh", "-c", "cat; printf e >&2; exit 3"])
    assert (reply["exit"], reply["ended_by"]) == ("3", "exit")
    n_stdout = int(reply["n_stdout"])
    assert (output[:n_stdout], output[n_stdout:]) == (data, b"e")


def test_a_command_gets_its_arguments_variables_and_directory(helper: Pipe, tmp_path: Path) -> None:
    """Empty ones as well; both outputs are one where that is asked."""
    reply, output = helper.ask(
        arg=["sh", "-c", 'echo "$#:$1:$A" >&2; pwd', "sh", ""], env=["A=b=c"], cwd=str(tmp_path), merge=True
    )
    assert (output.decode(), reply["n_stdout"]) == (f"1::b=c\n{tmp_path}\n", str(len(output)))
    assert helper.ask(arg=["true"], cwd="/nowhere")[0]["exit"] == "126"
    assert helper.ask(arg=["true"], user="nosuch")[1] == b"there is no user nosuch in the container\n"
    assert helper.ask(arg=["true"], user="4294967296")[1] == b"4294967296: no user or group has such a number\n"
    reply, output = helper.ask(arg=["no-such-program"])
    assert (reply["exit"], output) == ("127", b"no-such-program: No such file or directory\n")


def test_a_late_command_is_killed_with_what_it_started(helper: Pipe) -> None:
    """A timeout ends the whole session, and says so."""
    reply, output = helper.sh("sleep 1000 & echo $!; sleep 1000", seconds=0.3)
    assert (reply["ended_by"], reply["exit"]) == ("timeout", "137")
    assert not is_running(output)


def test_what_runs_is_killed_where_nel_hangs_up(helper: Pipe, tmp_path: Path) -> None:
    """The end of its input is the end of the helper and of its command."""
    fifo = tmp_path / "fifo"
    subprocess.run(["mkfifo", fifo], check=True)
    helper.send(
        {"do": "run", "seconds": 20, "bytes_max": 9, "cwd": "/", "arg": ["sh", "-c", f"echo $$ > {fifo}; sleep 99"]}
    )
    pid = fifo.read_bytes()
    assert helper.process.stdin is not None
    helper.process.stdin.close()
    assert helper.process.wait() == 0
    assert not is_running(pid)


def test_a_process_in_the_background_delays_nothing_and_goes_on(helper: Pipe, tmp_path: Path) -> None:
    """Its output is dropped once its command has ended, and its pipe is not closed."""
    fifo = tmp_path / "fifo"
    reply, output = helper.sh(f"mkfifo {fifo}; (cat {fifo}; echo more; echo went on > {fifo}.txt) & echo started")
    assert (reply["ended_by"], output) == ("exit", b"started\n")
    helper.sh(f"echo go > {fifo}; while [ ! -s {fifo}.txt ]; do :; done")
    assert Path(f"{fifo}.txt").read_text() == "went on\n"


def test_a_process_that_writes_without_end_delays_nothing(helper: Pipe) -> None:
    """What it wrote before its command ended is read, and no more."""
    reply, output = helper.sh("yes & echo $! >&2")
    assert reply["exit"] == "0"
    assert helper.sh(f"kill {int(output[int(reply['n_stdout']) :])}")[0]["exit"] == "0"


def test_head_and_tail_of_a_long_output_are_kept(helper: Pipe) -> None:
    """What is in memory is bounded, whatever is written."""
    reply, output = helper.sh("i=0; while [ $i -lt 1000 ]; do printf '%03d ' $i; i=$((i + 1)); done", bytes_max=10)
    assert (output, reply["size"]) == (b"000 0 999 ", "4000")


def test_files_are_written_and_read_as_bytes(helper: Pipe, tmp_path: Path) -> None:
    """Folders are made; one that is too large or not there is an error of the command."""
    path = str(tmp_path / "a" / "b.bin")
    data = bytes(range(256)) * 100
    assert helper.ask(data, do="write", path=path, mode=0o600)[0]["exit"] == "0"
    assert helper.ask(do="read", path=path)[1] == data
    assert helper.ask(do="write", path=f"{path}.empty")[0]["exit"] == "0"
    reply, output = helper.ask(do="read", path=path, bytes_max=200)
    assert reply["exit"] == "1"
    assert output.endswith(b"25600 bytes, which is too much\n")
    assert b"No such file" in helper.ask(do="read", path=f"{path}x")[1]
    assert b"Not a directory" in helper.ask(do="write", path=f"{path}/x")[1]


def test_files_are_looked_at(helper: Pipe, tmp_path: Path) -> None:
    """Links, folders and what is not there are told apart; of files with one of the words the content comes."""
    (tmp_path / "a").write_bytes(b"say \0 hello")
    (tmp_path / "b").write_bytes(b"nothing")
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "far").symlink_to("link/../x/y")
    paths = [str(tmp_path / name) for name in ("a", "b", "link", "c", "far")]
    _, output = helper.ask(pack_paths(paths), do="look", word=["hello", "bye"], bytes_each=100)
    a, b, link, missing, far = unpack_facts(output)
    assert (a.kind, a.data, b.kind, b.data) == ("f", b"say \0 hello", "f", b"")
    assert (link.kind, link.target_kind, link.real_path) == ("l", "d", str(tmp_path))
    assert {"a", "b", "link"} <= set(link.names)
    assert (missing.kind, missing.real_path) == ("-", "")
    assert (far.target_kind, far.real_path) == ("-", f"{tmp_path.parent}/x/y")


def test_a_relay_carries_the_connections_of_an_agent(start: Callable[..., Pipe], tmp_path: Path) -> None:
    """Both ways and more than a pipe holds; the agent's end is the last frame."""
    relay = start("relay")
    fifo = tmp_path / "fifo"
    subprocess.run(["mkfifo", fifo], check=True)
    order: dict[str, Value] = {"do": "run", "seconds": 20, "bytes_max": 99, "cwd": "/", "number": 1, "merge": True}
    relay.send(order | {"arg": ["sh", "-c", f"echo begun; cat {fifo}"]})
    with socket.create_connection(("127.0.0.1", int(relay.facts["port"]))) as agent:
        assert relay.receive() == ({"connection": "1", "begins": "1"}, b"")
        agent.sendall(b"ask")
        assert relay.receive() == ({"connection": "1"}, b"ask")
        answer = bytes(range(256)) * 20_000
        relay.send({"connection": 1}, answer)
        relay.send({"connection": 1, "ends": True})
        received = bytearray()
        while chunk := agent.recv(1 << 20):
            received += chunk
        assert received == answer
    fifo.write_bytes(b"over\n")
    reply, output = relay.receive()
    assert (reply["exit"], output) == ("0", b"begun\nover\n")


def test_an_agent_is_stopped(start: Callable[..., Pipe], tmp_path: Path) -> None:
    """By a frame, and with all that it started."""
    relay = start("relay")
    order: dict[str, Value] = {"do": "run", "seconds": 20, "bytes_max": 99, "cwd": "/", "number": 1}
    fifo = tmp_path / "fifo"
    subprocess.run(["mkfifo", fifo], check=True)
    relay.send(order | {"arg": ["sh", "-c", f"sleep 99 & echo $! > {fifo}; wait"]})
    pid = fifo.read_bytes()
    relay.send({"stop": True})
    assert relay.receive()[0]["ended_by"] == "stopped"
    assert not is_running(pid)
