"""The processes of a container: two zygotes, and what they fork for programs and tests.

The supervisor holds two capabilities only, to change user and group; it ends the processes of a job
by taking their user id for one system call, and removes their files in the same way.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from nel.sandbox.isolation.agent import zygote
from nel.sandbox.isolation.agent.watch import Counters, running

if TYPE_CHECKING:
    from nel.sandbox.isolation.agent import channel

WORK = "/tmp/work"  # noqa: S108 - a container's own
SWEEP_SECONDS_MAX = 5.0
_WRITABLE = ("/tmp", "/dev/shm", "/dev/mqueue")  # noqa: S108
_BUILT_BYTES_MAX = 32 << 20
_BUILT_FILES_MAX = 1_000


class Zygote:
    """The supervisor's end of one zygote."""

    def __init__(self, modules: str) -> None:
        """Fork it; it imports these modules."""
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.socket.close()
                zygote.tend(theirs, modules)
            finally:
                os._exit(1)
        theirs.close()
        self.child: int | None = None
        self.ending: channel.Message | None = None

    def wait(self) -> None:
        """Wait until it is ready; end the container where it is not."""
        if self.socket.recv(zygote.MESSAGE_BYTES_MAX) != zygote.READY:
            raise SystemExit("the filter of system calls cannot be installed here")

    def start(self, request: channel.Message, handles: list[int]) -> int:
        """Have it fork a process; return the process id."""
        message = json.dumps(request).encode()
        socket.send_fds(self.socket, [message], handles)
        reply = self.socket.recv(zygote.MESSAGE_BYTES_MAX)
        if not reply:
            raise SystemExit("a zygote is gone")
        self.ending = None
        self.child = json.loads(reply)["pid"]
        return self.child

    def take(self) -> None:
        """Read how the process ended."""
        reply = self.socket.recv(zygote.MESSAGE_BYTES_MAX)
        if not reply:
            raise SystemExit("a zygote is gone")
        self.ending = json.loads(reply)
        self.child = None


class Processes:
    """What runs in the container, and as whom."""

    def __init__(self, first_user: int) -> None:
        """Start the zygotes.

        Args:
            first_user: Programs run as this user, tests as the next; the one before it owns no
                process.
        """
        self.idle_user, self.program_user, self.tests_user = (
            first_user - 1,
            first_user,
            first_user + 1,
        )
        self.programs = Zygote(zygote.FOR_PROGRAMS)
        self.tests = Zygote(zygote.FOR_TESTS)
        for forked in (self.programs, self.tests):
            forked.wait()
        self.counters = Counters()
        self.built: dict[str, tuple[int, bytes]] | None = None
        """What a compiler left in the work space: path to mode and content; None: nothing."""
        self.known = frozenset((os.getpid(), self.programs.pid, self.tests.pid))

    @contextmanager
    def as_user(self, user: int) -> Iterator[None]:
        """Act as a user, whose processes cannot harm this one meanwhile."""
        # Real, effective and saved id. A process may signal those whose real or saved id is its
        # own, so that the user's cannot signal this one; the saved 0 leads back.
        os.setresuid(self.idle_user, user, 0)
        try:
            yield
        finally:
            os.setresuid(0, 0, 0)

    def make_work_space(self, files: dict[str, str]) -> None:
        """Make the directory that programs run in, with these files, owned by their user."""
        with self.as_user(self.program_user):
            with suppress(FileExistsError):
                os.mkdir(WORK, 0o700)
            for name, text in files.items():
                handle = os.open(
                    f"{WORK}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600
                )
                with os.fdopen(
                    handle, "w", encoding="utf-8", errors="surrogatepass", newline=""
                ) as file:
                    file.write(text)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files of the work space."""
        with self.as_user(self.program_user):
            for name in names:
                with suppress(OSError):
                    os.unlink(f"{WORK}/{name}")

    def keep_built(self) -> None:
        """Keep the files of the work space in memory, unless they are too large."""
        built: dict[str, tuple[int, bytes]] = {}
        size = 0
        self.built = None
        with self.as_user(self.program_user):
            for folder, _, names in os.walk(WORK):
                for path in [f"{folder}/{name}" for name in names]:
                    about = os.lstat(path)
                    size += about.st_size
                    if (
                        size > _BUILT_BYTES_MAX
                        or len(built) == _BUILT_FILES_MAX
                        or not stat.S_ISREG(about.st_mode)
                    ):
                        return
                    with open(path, "rb") as file:
                        built[path] = stat.S_IMODE(about.st_mode), file.read()
        self.built = built

    def restore_built(self) -> None:
        """Write what was kept into the work space, which is empty."""
        if self.built is None:
            raise SystemExit("there is nothing built")
        with self.as_user(self.program_user):
            for path, (mode, data) in self.built.items():
                os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
                with os.fdopen(
                    os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb"
                ) as file:
                    file.write(data)

    def kill(self, user: int) -> None:
        """End all processes of a user at once."""
        with self.as_user(user), suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)

    def clear(self) -> bool:
        """End whatever is left, remove what was written; return False when something remains."""
        deadline = time.monotonic() + SWEEP_SECONDS_MAX
        # Until only supervisor and zygotes are left: a process that forks without end may be in
        # the middle of a fork at each kill.
        while True:
            self.kill(self.program_user)
            self.kill(self.tests_user)
            for owner in (self.programs, self.tests):
                if owner.child is not None and select.select([owner.socket], [], [], 0.02)[0]:
                    owner.take()
            self._reap()
            if self.known.issuperset(running()):
                break
            if time.monotonic() > deadline:
                return False
            time.sleep(0.0005)
        return self._wipe()

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                raise SystemExit("both zygotes are gone") from None
            if pid == 0:
                return
            if pid in self.known:
                raise SystemExit("a zygote is gone")

    def _wipe(self) -> bool:
        for path in _WRITABLE:
            if not _is_empty(path):
                for user in (self.program_user, self.tests_user):
                    with self.as_user(user):
                        _remove_all(path)
        return all(_is_empty(path) for path in _WRITABLE)


def _is_empty(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except FileNotFoundError:
        return True


def _remove_all(top: str) -> None:
    """Remove what is in a directory, as its owner, as far as nothing resists."""
    with suppress(OSError, RecursionError):
        for folder, folders, files in os.walk(top, topdown=False):
            for name in files:
                os.unlink(f"{folder}/{name}")
            for name in folders:
                path = f"{folder}/{name}"
                (os.unlink if os.path.islink(path) else os.rmdir)(path)
