"""Uploads snapshots of a run while it goes on, and its artifacts at the end. What fails is said and
tried again.

The run works on this machine and never waits for the store: a snapshot is a copy of run.db by
SQLite's backup, made in a thread. Nothing here can end a session; an upload that failed at the end
is made up for by a resume.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from nel import Progress
from nel.core.paths import make_work_directory
from nel.engine.store.projections.intact import copy_store
from nel.engine.store.remote import HOME_FILE
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import NelError, OutputError
from nel_remote.objects import Objects
from nel_remote.places import Home, home_of, set_home
from nel_remote.snapshots import Manifest, read_manifest, remove_unused, write_snapshot
from nel_remote.writing import Superseded, Writer, claim

_LOG = logging.getLogger(__name__)
_ATTEMPTS: Final = 5
"""Of the upload at the end."""
_SHARE: Final = 10.0
"""A snapshot that took a second is followed by the next after so many at least."""
_NOT_SENT: Final = frozenset(
    {FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", f"{FILE_NAME}-journal", ".lock", HOME_FILE}
)
_LIVE: Final = ("run.log", "progress.json")
"""What is sent of a run in progress, beside its store."""


class Mirror:
    """The uploads of one session."""

    def __init__(
        self, run_dir: Path, home: Home, *, every_seconds: float, sleep: Callable[[float], None]
    ) -> None:
        """Prepare; `begin` asks the store."""
        self._run_dir, self._home, self._every, self._sleep = run_dir, home, every_seconds, sleep
        self._objects = Objects(home.url)
        self._last: Manifest | None = None
        self._writer: Writer | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._keep_uploading, name="nel-remote-upload", daemon=True
        )
        self._problem: OutputError | None = None
        self.n_failed = 0
        """Uploads that failed."""

    @property
    def url(self) -> str:
        """Return the URL of the run."""
        return f"{self._home.url}/{self._run_dir.name}"

    @property
    def problem(self) -> str | None:
        """Return why the last upload failed, None where it did not."""
        return None if self._problem is None else str(self._problem)

    def begin(self, *, say: Callable[[str], None]) -> None:
        """Become the writer, and upload from now on.

        Raises:
            OutputError: Another process writes the run, the store has a newer snapshot, or cannot
                be used.
        """
        name = self._run_dir.name
        self._writer = claim(self._objects, name, say=say, sleep=self._sleep)
        self._last = read_manifest(self._objects, name)
        number = 0 if self._last is None else self._last.number
        if number > self._home.number:
            self._writer.release()
            if self._home.number == 0:
                raise OutputError(f"{self.url} exists already; resume it, or choose another run id")
            raise OutputError(
                f"{self.url} was continued elsewhere; go on with nel eval resume {self.url}"
            )
        self._thread.start()

    def finish(self) -> str | None:
        """Upload everything; return why that failed, None where it did not."""
        self._stopping.set()
        self._thread.join()
        assert self._writer is not None  # noqa: S101 - `begin` was called
        for attempt in range(_ATTEMPTS):
            if isinstance(self._problem, Superseded) or not (self._run_dir / FILE_NAME).is_file():
                break
            if attempt:
                self._sleep(2.0 ** (attempt - 1))
            if self._upload(complete=True):
                break
        self._writer.release()
        return self.problem

    def _keep_uploading(self) -> None:
        wait = min(self._every, 5.0)  # what is there at once shows that it can be written
        while not self._stopping.wait(wait):
            if not (self._run_dir / FILE_NAME).is_file():
                continue
            began = time.monotonic()
            if self._upload(complete=False):
                wait = max(self._every, _SHARE * (time.monotonic() - began))
            elif isinstance(self._problem, Superseded):
                return

    def _upload(self, *, complete: bool) -> bool:
        """Upload a snapshot; return whether it is there."""
        assert self._writer is not None  # noqa: S101 - `begin` was called
        work = None
        try:
            self._writer.check()
            work = make_work_directory(self._run_dir)
            before, name = self._last, self._run_dir.name
            self._last = write_snapshot(
                self._objects,
                name,
                self._paths(work, complete=complete),
                before=before,
                writer=self._writer.number,
                complete=complete,
            )
            set_home(self._run_dir, replace(self._home, number=self._last.number))
            remove_unused(self._objects, name, before, self._last)
        except (NelError, OSError) as error:
            self.n_failed += 1
            self._problem = (
                error if isinstance(error, OutputError) else OutputError(f"cannot upload: {error}")
            )
            _LOG.warning("the run is not uploaded: %s", error)
            return False
        finally:
            if work is not None:
                shutil.rmtree(work, ignore_errors=True)
        self._problem = None
        return True

    def _paths(self, work: Path, *, complete: bool) -> dict[str, Path]:
        """Return the files of a snapshot by their names, with a copy of the store as it is now."""
        with Snapshot(self._run_dir / FILE_NAME) as snapshot:
            copy_store(snapshot, work / FILE_NAME)
        paths = {FILE_NAME: work / FILE_NAME}
        everything = (
            self._run_dir.rglob("*") if complete else (self._run_dir / name for name in _LIVE)
        )
        for path in everything:
            name = path.relative_to(self._run_dir).as_posix()
            if name not in _NOT_SENT and path.is_file() and not path.is_symlink():
                paths[name] = path
        return paths


@contextmanager
def uploads(
    run_dir: Path,
    progress: Progress,
    *,
    every_seconds: float,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Mirror | None]:
    """Upload a run within the block where it belongs elsewhere; yields None where it does not.

    Its end uploads everything, however the block was left.

    Raises:
        OutputError: As `Mirror.begin`; nothing was done then.
    """
    home = home_of(run_dir)
    if home is None:
        yield None
        return
    mirror = Mirror(run_dir, home, every_seconds=every_seconds, sleep=sleep)

    def say(line: str) -> None:
        progress.stage = line
        _LOG.info("%s", line)

    try:
        mirror.begin(say=say)
    except OutputError:
        if not (run_dir / FILE_NAME).is_file():  # a new run, of which there is nothing yet
            shutil.rmtree(run_dir, ignore_errors=True)
        raise
    is_finished = False
    try:
        yield mirror
        is_finished = True
    finally:
        problem = mirror.finish()
        if problem is not None:
            progress.notes.append(
                f"the run is kept in {run_dir} and was not uploaded: {problem}; nel eval resume"
                f" {mirror.url} uploads it"
            )
        elif is_finished:
            progress.notes.append(f"uploaded to {mirror.url}" + _failures(mirror.n_failed))


def _failures(n: int) -> str:
    return f"; {n:,} uploads before had failed" if n else ""
