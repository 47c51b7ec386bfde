"""Who may write a run on a remote store: one process at a time, named by a number that only grows.

The process with the highest number is the writer. It counts up in its own object as long as it
lives; one that is to take its place looks whether that counts on, and takes the next number where
it does not. No clock of two machines is compared. A writer that finds a higher number than its own
stops uploading.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from nel.core.strict_json import dumps_bytes, loads
from nel.errors import OutputError
from nel_remote.objects import Objects, StoreUnreachable

BEAT_SECONDS: Final = 10.0
_LOOKS: Final = 3
"""So many beats are waited for before a silent writer is taken to be dead."""
_FOLDER: Final = "writers"
_OWN: Final[set[str]] = set()
"""Tokens of this process's writers; its number another may have had before it: in a container it is
often the same.
"""


class Superseded(OutputError):
    """Another process writes the run now."""


class Writer:
    """The right of this process to write one run."""

    def __init__(self, objects: Objects, run: str, *, number: int, token: str) -> None:
        """Hold a right that `claim` got."""
        self._objects, self._run, self._token = objects, run, token
        self.number = number
        self._beats = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="nel-remote-writer", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise Superseded where another process has taken its place."""
        newest = _numbers(self._objects, self._run)[-1:]
        if newest != [self.number]:
            raise Superseded(
                f"another process writes {self._objects.url}/{self._run} now; this one uploads no"
                " more"
            )

    def release(self) -> None:
        """Let another process write at once."""
        self._stopping.set()
        self._thread.join()
        # Another writer of this process need not wait for this one.
        _OWN.discard(self._token)
        try:
            self._objects.write(
                _name(self._run, self.number), _content(self._token, self._beats, released=True)
            )
        except StoreUnreachable:
            return  # the next writer waits for a while

    def _beat(self) -> None:
        while not self._stopping.wait(BEAT_SECONDS):
            self._beats += 1
            try:
                self._objects.write(
                    _name(self._run, self.number), _content(self._token, self._beats)
                )
            except StoreUnreachable:
                continue  # uploads say it


def claim(
    objects: Objects, run: str, *, say: Callable[[str], None], sleep: Callable[[float], None]
) -> Writer:
    """Become the writer of a run.

    Args:
        objects: The store.
        run: The run's name in it.
        say: Takes a line for people, where this takes a while.
        sleep: Waits.

    Raises:
        OutputError: Another process writes it, or the store cannot be written.
    """
    numbers = _numbers(objects, run)
    if numbers:
        _check_silent(objects, run, numbers[-1], say, sleep)
    number, token = (numbers[-1] if numbers else 0) + 1, secrets.token_hex(16)
    _OWN.add(token)
    if not objects.create(_name(run, number), _content(token, 0)):
        raise OutputError(
            f"another process has just begun to write {objects.url}/{run}; wait for it or stop it"
        )
    for earlier_number in numbers:
        objects.remove(_name(run, earlier_number))
    return Writer(objects, run, number=number, token=token)


def _check_silent(
    objects: Objects,
    run: str,
    number: int,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> None:
    """Raise OutputError where the writer of this number is at work."""
    writer = _read(objects, run, number)
    if writer is None or writer.get("released") is True or _has_died_here(writer):
        return
    who = f"process {writer.get('pid')} on {writer.get('host')}"
    if writer.get("host") != socket.gethostname():
        say(
            f"looking for {_LOOKS * BEAT_SECONDS:.0f} s whether {who} still writes"
            f" {objects.url}/{run}"
        )
        for _ in range(_LOOKS):
            sleep(BEAT_SECONDS)
            if _read(objects, run, number) != writer:
                break
        else:
            return
    raise OutputError(f"{objects.url}/{run} is being written by {who}; wait for it or stop it")


def _has_died_here(writer: dict[str, Any]) -> bool:
    if writer.get("host") != socket.gethostname() or not isinstance(writer.get("pid"), int):
        return False
    if writer["pid"] == os.getpid():
        return writer.get("token") not in _OWN
    try:
        os.kill(writer["pid"], 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _read(objects: Objects, run: str, number: int) -> dict[str, Any] | None:
    content = objects.read(_name(run, number))
    try:
        writing = None if content is None else loads(content)
    except ValueError:
        return None
    return writing if isinstance(writing, dict) else None


def _numbers(objects: Objects, run: str) -> list[int]:
    names = (name.partition(".")[0] for name in objects.names(f"{run}/{_FOLDER}"))
    return sorted(int(name) for name in names if name.isdecimal())


def _name(run: str, number: int) -> str:
    return f"{run}/{_FOLDER}/{number:06d}.json"


def _content(token: str, beats: int, *, released: bool = False) -> bytes:
    owner = {
        "token": token,
        "beats": beats,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "released": released,
    }
    return dumps_bytes({**owner, "at": round(time.time()) if released else None})
