"""A warm interpreter that forks one process after the other and never sees what they run.

It gets descriptors and numbers, never a program or a test, so that nothing of an earlier program is
in the memory that a later one inherits. What a process does once it is confined is an entry of
`ENTRIES`.
"""

from __future__ import annotations

import _sitebuiltins
import builtins
import gc
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from nel.sandbox.isolation.agent import limits, seccomp

if TYPE_CHECKING:
    from nel.sandbox.isolation.agent import channel

MESSAGE_BYTES_MAX = 1 << 16
READY = b"ready"
"""What a zygote says once, when it is warm and walled in."""
_HANDLES_MAX = 8
_WORK_SCORE, _TESTS_SCORE = 1000, 900
ENTRIES: dict[str, Callable[[], int]] = {}
"""What a confined process can be asked to do, by name; it finds its descriptors at 3, 4 and 5."""
FOR_PROGRAMS = (
    "typing re math random collections itertools functools heapq bisect string operator copy"
    " datetime decimal fractions hashlib"
)
FOR_TESTS = "typing re math collections"
"""What is imported once for all: what most use, since each makes every fork slower."""
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
    "HOME": "/tmp/work",  # noqa: S108 - a container's own
    "TMPDIR": "/tmp/work",  # noqa: S108
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def _warm_up(modules: str) -> None:
    """Do, once for all, what each process would have to do otherwise."""
    for name in modules.split():
        __import__(name)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # the CPU time bounds long integers
    for name in ("exit", "quit"):  # what the module `site` adds, and programs use
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D"))
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    reader, writer = os.pipe()  # as the descriptors of a program will be: not seekable
    for handle, end in ((reader, 0), (writer, 1), (writer, 2)):
        os.dup2(handle, end)
    _reopen_standard_streams()
    null_device = os.open("/dev/null", os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(null_device, handle)
    for handle in (reader, writer, null_device):
        os.close(handle)


def _reopen_standard_streams() -> None:
    """Make standard input, output and error of the descriptors 0, 1 and 2 as they are now."""
    options = {"encoding": "utf-8", "closefd": False}
    sys.stdin = open(0, errors="surrogateescape", **options)  # type: ignore[call-overload]  # noqa: SIM115
    sys.stdout = open(1, "w", errors="surrogateescape", **options)  # type: ignore[call-overload]  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", buffering=1, **options)  # type: ignore[call-overload]  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def tend(control: socket.socket, modules: str) -> None:
    """Fork a process for each request and report how it ended, until the supervisor is gone."""
    _warm_up(modules)
    seccomp.no_new_privileges()
    if not seccomp.install():
        os._exit(1)  # the supervisor ends the container: nothing runs without the filter
    control.send(READY)
    # A collection in a forked process then leaves alone, and so does not copy, what is loaded here.
    gc.collect()
    gc.freeze()
    while True:
        message, handles, _, _ = socket.recv_fds(control, MESSAGE_BYTES_MAX, _HANDLES_MAX)
        if not message:
            os._exit(0)
        request = json.loads(message)
        pid = os.fork()
        if pid == 0:
            control.close()
            _leave(request, handles)
        for handle in handles:
            os.close(handle)
        control.send(json.dumps({"pid": pid}).encode())
        _, status, usage = os.wait4(pid, 0)
        control.send(json.dumps(_ending(status, usage)).encode())


def _ending(status: int, usage: resource.struct_rusage) -> channel.Message:
    return {
        "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
    }


def _leave(request: channel.Message, handles: list[int]) -> None:
    status = 70  # EX_SOFTWARE of sysexits.h: an error in this agent
    try:
        status = _become(request, handles)
    finally:
        os._exit(status)


def _become(request: channel.Message, handles: list[int]) -> int:
    """Turn this fresh process into what the request says; return its exit status."""
    _install(handles)
    is_tests = request["is_tests"]
    score = _TESTS_SCORE if is_tests else _WORK_SCORE
    limits.become(
        request["user"], request["limits"], out_of_memory_score=score, is_dumpable=not is_tests
    )
    os.chdir("/" if is_tests else request["directory"])  # the work space is its owner's alone
    if request["do"] == "execute":
        return _execute(request["command"], {**ENVIRONMENT, **request["environment"]})
    return ENTRIES[request["do"]]()


def _execute(command: list[str], environment: dict[str, str]) -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - the command of the language's folder
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    return 127


def _install(handles: list[int]) -> None:
    """Make the given descriptors 0, 1, 2 … and close all others."""
    # By way of high numbers: one of the given descriptors may stand where another is to go.
    copies = [os.dup(handle) for handle in handles]
    base = 100
    for number, handle in enumerate(copies):
        os.dup2(handle, base + number)
    for number in range(len(handles)):
        os.dup2(base + number, number)
    os.closerange(len(handles), 4096)
