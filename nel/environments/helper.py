"""Runs in a container: starts commands and moves files, as the frames on its standard input say.

A frame is two sizes, a header of JSON and a body. Every request has one reply. It is sent to the
container as source and needs Python 3.8 and its standard library; what it starts is put into a
session of its own, with the user, directory and variables of the request. The end of its input is
its own end.
"""

from __future__ import annotations

import grp
import json
import os
import pwd
import selectors
import signal
import struct
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

Request = Any
"""A header: an object of JSON."""

SIZES = struct.Struct(">II")
CHUNK = 64 << 10
LEFTOVERS_MAX = 256
"""Outputs of processes that went on in the background, which are read and dropped."""
DISK_FULL_BYTES = 1 << 20
KILL_SECONDS = 5.0
WATCH_SECONDS = 0.1
"""For what goes on after a command to write to a folder again."""
SCORE_OF_COMMANDS = "300"
"""Where memory runs out, the kernel kills a command before its helper."""
COUNTERS = (
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
)
"""Where the kernel counts what it killed for memory: cgroup v2 and v1."""


class BoundedOutput:
    """Head and tail of an output of any length."""

    def __init__(self, bytes_max: int) -> None:
        """Keep at most so many bytes."""
        self.half = max(1, bytes_max // 2)
        self.size = 0
        self.head = bytearray()
        self.tail = bytearray()

    def add(self, data: bytes) -> None:
        """Take what was written next."""
        self.size += len(data)
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    def ends(self) -> bytes:
        """Return what is kept."""
        return bytes(self.head + self.tail[-self.half :])


class RunningCommand:
    """A running process: fed, read, and killed where it is late."""

    def __init__(self, request: Request, body: bytes, selector: selectors.BaseSelector) -> None:
        """Start it."""
        self.selector = selector
        pipes = [os.pipe() for _ in range(3)]
        self.pid = os.fork()
        if self.pid == 0:
            become(request, pipes)
        (in_read, self.stdin), (stdout, out_write), (stderr, err_write) = pipes
        for handle in (in_read, out_write, err_write):
            os.close(handle)
        self.rest = memoryview(body)
        bytes_max = request["bytes_max"]
        self.outputs = {stdout: BoundedOutput(bytes_max), stderr: BoundedOutput(bytes_max)}
        self.ended_by = "exit"
        self.status = 0
        for handle in (self.stdin, *self.outputs):
            os.set_blocking(handle, False)
        for handle in self.outputs:
            selector.register(handle, selectors.EVENT_READ)
        if body:
            selector.register(self.stdin, selectors.EVENT_WRITE)
        else:
            os.close(self.stdin)

    @property
    def code(self) -> int:
        """Return the exit code, of a signal as a shell has it."""
        if os.WIFSIGNALED(self.status):
            return 128 + os.WTERMSIG(self.status)
        return os.WEXITSTATUS(self.status)

    def has_ended(self, seconds: float) -> bool:
        """Return whether it ended; it is killed where no seconds are left."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.status = status
        elif seconds <= 0:
            self.ended_by, self.status = "timeout", kill_session(self.pid)
        return bool(pid) or seconds <= 0

    def handle(self, handle: int) -> bool:
        """Feed or read it; return whether the handle is its own."""
        if self.rest and handle == self.stdin:
            self.feed()
            return True
        if handle in self.outputs:
            self.read(handle)
            return True
        return False

    def feed(self) -> None:
        """Write what it takes; nothing more where it does not read."""
        try:
            self.rest = self.rest[os.write(self.stdin, self.rest[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            self.rest = self.rest[:0]
        if not self.rest:
            self.selector.unregister(self.stdin)
            os.close(self.stdin)

    def read(self, handle: int) -> bool:
        """Read once; return whether there may be more."""
        data = read_some(handle)
        if data:
            self.outputs[handle].add(data)
        elif data is not None:
            self.selector.unregister(handle)
        return bool(data)

    def finish(self) -> list[int]:
        """Read what is written, and close all but the outputs that background processes have."""
        if self.rest:
            self.selector.unregister(self.stdin)
            os.close(self.stdin)
        shared = []
        for handle in self.outputs:
            while handle in self.selector.get_map() and self.read(handle):
                pass
            if handle in self.selector.get_map():
                shared.append(handle)
            else:
                os.close(handle)
        return shared


class Helper:
    """Serves one request after the other."""

    def __init__(self) -> None:
        """Listen for the ends of processes."""
        self.wakeup, waker = os.pipe()
        for handle in (self.wakeup, waker):
            os.set_blocking(handle, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ)
        self.selector.register(self.wakeup, selectors.EVENT_READ)
        self.leftovers: list[int] = []
        self.older = set(processes())
        """What ran before it, which is not a command's."""

    def serve(self) -> None:
        """Answer requests until the input ends."""
        while True:
            self.wait_for_input()
            n_header, n_body = SIZES.unpack(receive(SIZES.size))
            request, body = json.loads(receive(n_header)), receive(n_body)
            reply, output = self.run(request, body)
            header = json.dumps({"number": request["number"], **reply}).encode()
            send(SIZES.pack(len(header), len(output)) + header + output)

    def wait_for_input(self) -> None:
        """Return once a frame begins; drop what background processes write meanwhile."""
        has_begun = False
        while not has_begun:
            for key, _ in self.selector.select():
                has_begun = self.is_input(key.fd) or has_begun

    def is_input(self, handle: int) -> bool:
        """Return whether it is the input; drop what background processes write."""
        if handle == 0:
            return True
        if read_some(handle) == b"":
            self.selector.unregister(handle)
            os.close(handle)
            self.leftovers.remove(handle)
        return False

    def run(self, request: Request, body: bytes) -> tuple[Request, bytes]:
        """Run what a request asks for to its end; return the reply and both outputs."""
        started, n_killed = time.monotonic(), n_killed_for_memory()
        command = RunningCommand(request, body, self.selector)
        while not command.has_ended(seconds := started + request["seconds"] - time.monotonic()):
            for key, _ in self.selector.select(max(0.0, seconds)):
                if not command.handle(key.fd) and self.is_input(key.fd):  # the host hung up
                    kill_session(command.pid)
                    os._exit(0)
        watched = request.get("watch", "")
        is_written = bool(watched) and self.end_processes(watched)
        self.leftovers += command.finish()
        while len(self.leftovers) > LEFTOVERS_MAX:
            handle = self.leftovers.pop(0)
            self.selector.unregister(handle)
            os.close(handle)
        ends = [output.ends() for output in command.outputs.values()]
        if command.code and n_killed_for_memory() > n_killed:
            command.ended_by = "memory"
        elif command.ended_by == "exit" and os.WIFSIGNALED(command.status):
            command.ended_by = "signal"
        reply = {
            "exit": command.code,
            "ended_by": command.ended_by,
            "sizes": [output.size for output in command.outputs.values()],
            "n_stdout": len(ends[0]),
            "seconds": time.monotonic() - started,
            "is_written_after": is_written,
            "is_disk_full": command.code != 0 and is_disk_full(),
        }
        return reply, b"".join(ends)

    def end_processes(self, folder: str) -> bool:
        """Kill what commands have left running; return whether it wrote to a folder before."""
        before, until = states_of(folder), time.monotonic() + KILL_SECONDS
        if others := self.younger():
            time.sleep(WATCH_SECONDS)
        after = states_of(folder)
        while others and time.monotonic() < until:
            for pid in others:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            others = self.younger()
        return before != after

    def younger(self) -> list[int]:
        """Return the processes that commands have started."""
        return [pid for pid in processes() if pid not in self.older and pid != os.getpid()]


def receive(size: int) -> bytes:
    """Return so many bytes of the input; end with it."""
    data = bytearray()
    while len(data) < size:
        chunk = os.read(0, min(CHUNK, size - len(data)))
        if not chunk:
            os._exit(0)
        data += chunk
    return bytes(data)


def send(data: bytes) -> None:
    """Write to the output."""
    remainder = memoryview(data)
    while remainder:
        remainder = remainder[os.write(1, remainder) :]


def read_some(handle: int) -> bytes | None:
    """Return what can be read: nothing at the end, None where it is still to come."""
    try:
        return os.read(handle, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def become(request: Request, pipes: list[tuple[int, int]]) -> NoReturn:
    """Turn a forked process into what a request asks for; does not return."""
    code = 126
    try:
        os.setsid()
        for target, handle in enumerate((pipes[0][0], pipes[1][1], pipes[2][1])):
            os.dup2(handle, target)
        if request["merge"]:
            os.dup2(1, 2)
        os.closerange(3, 4096)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write(SCORE_OF_COMMANDS)
        environment = dict(os.environ)
        take_user(request["user"], environment)
        environment.update(request["env"])
        os.chdir(request["cwd"])
        if request["do"] == "run":
            code = 127
            os.execvpe(request["argv"][0], request["argv"], environment)
        code = 1
        {"read": read_file, "write": write_file}[request["do"]](request)
        code = 0
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        os.write(2, f"{where}{error.strerror}\n".encode("utf-8", "replace"))
    except (KeyError, ValueError) as error:
        os.write(2, f"{error.args[0]}\n".encode("utf-8", "replace"))
    finally:
        os._exit(code)


def take_user(user: str, environment: dict[str, str]) -> None:
    """Become a user, by name or number and perhaps with a group, as in a Dockerfile's USER."""
    if not user:
        return
    name, _, group = user.partition(":")
    entry = None
    with suppress(KeyError):
        entry = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
    if entry is None and not name.isdigit():
        raise KeyError(f"there is no user {name} in the container")
    gid = group_of(group, 0 if entry is None else entry.pw_gid)
    if entry is None:
        os.setgroups([gid])
    else:
        os.initgroups(entry.pw_name, gid)
    os.setgid(gid)
    os.setuid(int(name) if entry is None else entry.pw_uid)
    environment["HOME"] = "/" if entry is None else entry.pw_dir


def group_of(group: str, default: int) -> int:
    """Return the number of a group."""
    if not group or group.isdigit():
        return int(group) if group else default
    return grp.getgrnam(group).gr_gid


def read_file(request: Request) -> None:
    """Write a file to standard output, if it is not too large."""
    with open(request["path"], "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > request["bytes_max"] // 2:
            raise ValueError(f"{request['path']} has {size:,} bytes, which is too much")
        while True:
            data = file.read(CHUNK)
            if not data:
                return
            send(data)


def write_file(request: Request) -> None:
    """Write standard input to a file; make the folders above it."""
    os.makedirs(os.path.dirname(request["path"]) or ".", exist_ok=True)
    with open(request["path"], "wb") as file:
        while True:
            data = os.read(0, CHUNK)
            if not data:
                break
            file.write(data)
        if request["mode"] is not None:
            os.fchmod(file.fileno(), request["mode"])


def kill_session(pid: int) -> int:
    """Kill a process and all of its session; return its status."""
    until = time.monotonic() + KILL_SECONDS
    status = None
    while True:
        for member in members_of(pid):
            with suppress(OSError):
                os.kill(member, signal.SIGKILL)
        if status is None:
            ended, end_status = os.waitpid(pid, os.WNOHANG)
            status = end_status if ended else None
        if (status is not None and not members_of(pid)) or time.monotonic() > until:
            return signal.SIGKILL if status is None else status
        time.sleep(0.002)


def members_of(session: int) -> list[int]:
    """Return the living processes of a session."""
    return [pid for pid, leader in processes().items() if leader == session]


def processes() -> dict[int, int]:
    """Return the session of each living process."""
    sessions = {}
    for name in os.listdir("/proc"):
        with suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat") as stat:
            state, _, _, leader = stat.read().rpartition(")")[2].split()[:4]
            if state not in "ZX":
                sessions[int(name)] = int(leader)
    return sessions


def states_of(folder: str) -> list[tuple[str, int, int, int]]:
    """Return which files a folder has, and when each was written to."""
    states = []
    with suppress(OSError):
        for entry in os.scandir(folder):
            status = entry.stat(follow_symlinks=False)
            states.append((entry.name, status.st_ino, status.st_size, status.st_mtime_ns))
    return sorted(states)


def n_killed_for_memory() -> int:
    """Return how many processes of the container the kernel killed for memory."""
    for path in COUNTERS:
        with suppress(OSError), open(path) as counter:
            for line in counter:
                name, _, value = line.partition(" ")
                if name == "oom_kill":
                    return int(value)
    return 0


def is_disk_full() -> bool:
    """Return whether the container's own disk has no room."""
    facts = os.statvfs("/")
    return facts.f_bavail * facts.f_frsize < DISK_FULL_BYTES


def shell() -> str:
    """Return bash, or else sh."""
    folders = os.environ.get("PATH", os.defpath).split(":")
    has_bash = any(os.access(os.path.join(folder, "bash"), os.X_OK) for folder in folders)
    return "bash" if has_bash else "sh"


def main() -> None:
    """Say what this is, and serve."""
    facts = {
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "cwd": os.getcwd(),
        "shell": shell(),
    }
    header = json.dumps({"number": 0, **facts}).encode()
    send(SIZES.pack(len(header), 0) + header)
    Helper().serve()
