"""The command line in forked processes: a server has imported nel once, and each call pays for its own work alone.

A call has its own arguments, working directory, environment and output, and ends as `python -m nel` does. What a
process decides before it runs, such as the seed of its hashes, is the server's.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_PR_SET_PDEATHSIG = 1
_ORDER_BYTES = 1 << 20


def run(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `nel` with these arguments to its end.

    Raises:
        TimeoutExpired: It has not ended after so many seconds, and was killed.
    """
    order = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}
    with contextlib.ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin.encode())
        given.seek(0)
        connection = stack.enter_context(_connection())
        descriptors = [given.fileno(), out.fileno(), err.fileno()]
        socket.send_fds(connection, [json.dumps(order).encode() + b"\n"], descriptors)
        connection.settimeout(timeout)
        answers = connection.makefile("r")
        pid = int(answers.readline())
        try:
            code = int(answers.readline())
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(["nel", *arguments], timeout) from None
        texts = [_text(file) for file in (out, err)]
    return subprocess.CompletedProcess(["nel", *arguments], code, *texts)


def fits(env: Mapping[str, str]) -> bool:
    """Return whether a process with this environment starts as the server did."""
    started = _started_with()
    names = {name for name in {*env, *started} if name.startswith("PYTHON")} - {"PYTHONPATH"}
    return all(env.get(name) == started.get(name) for name in names)


def _text(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode().replace("\r\n", "\n"))


@cache
def _started_with() -> dict[str, str]:
    return dict(os.environ)


@cache
def _server() -> str:
    """Start the server, which ends with this process; return the address of its socket."""
    name = f"nel-tests-{os.getpid()}"
    command = [sys.executable, "-m", "tests.support.warm", name]
    process = subprocess.Popen(command, cwd=_ROOT, env=_started_with(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()

    def end() -> None:
        process.kill()
        process.communicate()

    atexit.register(end)
    return f"\0{name}"


@contextlib.contextmanager
def _connection() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(_server())
        yield connection


def _serve(name: str) -> None:
    """Fork a child for each order and tell how it ended; returns in the children alone, ready to run."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(f"\0{name}")
    listening.listen()
    waking, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    print("ready", flush=True)  # noqa: T201 - read by the tests
    with selectors.DefaultSelector() as selector:
        selector.register(listening, selectors.EVENT_READ)
        selector.register(waking, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is waking:
                    waking.recv(4096)
                    _tell_ends(running)
                    continue
                connection, _ = listening.accept()
                order, files = _order_of(connection)
                pid = os.fork()
                if pid == 0:
                    selector.close()
                    _become(order, files)
                    return
                for file in files:
                    os.close(file)
                connection.sendall(f"{pid}\n".encode())
                running[pid] = connection


def _order_of(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, files, _, _ = socket.recv_fds(connection, _ORDER_BYTES, 3)
    while not data.endswith(b"\n"):
        data += connection.recv(_ORDER_BYTES)
    return json.loads(data), files


def _tell_ends(running: dict[int, socket.socket]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with contextlib.suppress(BrokenPipeError), running.pop(pid) as connection:
            connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(order: dict[str, Any], files: list[int]) -> None:
    """Make this process what `python -m nel` would be."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for stream, file in enumerate(files):
        os.dup2(file, stream)
    os.closerange(3, 256)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    entries = order["env"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [order["cwd"], *(entry for entry in entries if entry and entry not in sys.path)]
    sys.argv = ["nel", *order["arguments"]]
    importlib.invalidate_caches()


def _import_nel() -> None:
    """Import what the commands import, and do once what each of them would do again.

    That is: compile the templates of the report, read the options of all commands, and read the source files that the
    identity of a run covers. What is kept of a file depends on its size and time of change, as in any process.
    """
    import typer.main

    import nel.cli
    import nel.runs.evaluation
    from nel import plugins
    from nel.cli.app import app
    from nel.core import failpoints
    from nel.engine.scorers.identity import judge_digest, scorer_digest, unseen_dependencies
    from nel.reading.numbers import last_number
    from nel.reports.html import environment

    for module in pkgutil.iter_modules(nel.cli.__path__):
        importlib.import_module(f"nel.cli.{module.name}")
    for name in environment().list_templates(extensions=["j2"]):
        environment().get_template(name)
    typer.main.get_command = cache(typer.main.get_command)
    typer.main.get_command(app)
    benchmark = plugins.load("benchmarks", "gsm8k")
    scorer_digest(benchmark)
    unseen_dependencies(benchmark)
    judge_digest(None)
    importlib.import_module("numpy.ma")  # imported by the first percentile
    last_number("It is 4.")
    failpoints._armed = None  # read by each call for itself, whatever was written above
    gc.collect()
    gc.freeze()


def _run_and_leave() -> None:
    """Run nel and end as an interpreter does, but for the freeing of what was imported: half of what a call cost."""
    try:
        runpy.run_module("nel", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ending:
        if not isinstance(ending.code, int | None):
            raise
        code = ending.code or 0
    threading._shutdown()  # type: ignore[attr-defined]  # the interpreter's own order: threads, handlers, output
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # the interpreter says what it says of an output that cannot be written
    os._exit(code)


if __name__ == "__main__":
    _import_nel()
    _serve(sys.argv[1])
    _run_and_leave()
