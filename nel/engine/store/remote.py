"""Runs that are kept at a URL, by plugins of the group ``nel.stores`` for its scheme.

A session always works on a local disk. A store chooses the directory, uploads the run while it goes
on, and downloads it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final, Protocol

from nel import plugins
from nel.core.strict_json import loads
from nel.engine.progress import Progress
from nel.errors import OutputError, PluginError

HOME_FILE: Final = ".remote.json"
"""In the local directory of such a run: a JSON object with the ``url`` and keys of the store."""
_SCHEME_MIN: Final = 2
"""Characters; a single one is a drive of Windows."""


class Upload(Protocol):
    """The uploads of one session."""

    @property
    def url(self) -> str:
        """The URL of the run."""

    @property
    def problem(self) -> str | None:
        """Why the last upload failed, None if it did not."""


class RunStore(ABC):
    """Keeps runs at URLs of some schemes.

    Every method raises `NelError` if the store cannot be used, read or written.
    """

    @abstractmethod
    def live_directory(self, url: str) -> Path:
        """Return the local directory for runs of a directory at a URL, while they go on."""

    @abstractmethod
    def keep(self, run_dir: Path, url: str) -> None:
        """Write `HOME_FILE` into the directory of a new run that is kept below this URL."""

    @abstractmethod
    def uploading(
        self, run_dir: Path, progress: Progress, *, every_seconds: float
    ) -> AbstractContextManager[Upload | None]:
        """Upload a run during the block, and completely at its end, even after an exception."""

    @abstractmethod
    def resumable(self, url: str) -> Path:
        """Return the local directory in which the run at a URL is resumed."""

    @abstractmethod
    def local_copy(self, url: str) -> Path:
        """Return a local copy of the newest state of a run, or of a directory of runs."""


def is_remote(location: str) -> bool:
    """Return whether a location is a URL and not a path of this machine.

    >>> is_remote("s3://bucket/runs"), is_remote("eval_results"), is_remote("c:/runs")
    (True, False, False)
    """
    parts = plugins.split_uri(location)
    return parts is not None and len(parts[0]) >= _SCHEME_MIN


def store_of(url: str) -> RunStore:
    """Return the store of a URL.

    Raises:
        PluginError: No installed package, or several, keeps runs at such URLs.
    """
    parts = plugins.split_uri(url)
    assert parts is not None  # noqa: S101 - `is_remote` was asked
    if not plugins.matching("stores", parts[0]):
        raise PluginError(
            f"no installed package keeps runs at {parts[0]}://; pip install"
            " './plugins/nel-remote[s3]' brings S3, and what fsspec knows beside it"
        )
    ref = plugins.find("stores", parts[0])
    store = plugins.load_ref(ref)
    if not isinstance(store, RunStore):
        raise PluginError(
            f'the store "{ref.name}" ({ref.target}) of {ref.provider} is a {type(store).__name__},'
            " not a nel.RunStore"
        )
    return store


def local_copy(location: str) -> Path:
    """Return a path as it is, and a local copy of a run, or a directory of runs, at a URL.

    Raises:
        NelError: There is no such run, or it cannot be fetched.
    """
    return store_of(location).local_copy(location) if is_remote(location) else Path(location)


def resumable(location: str) -> Path:
    """Return the local directory in which a run is resumed.

    Raises:
        NelError: There is no such run, or it cannot be fetched.
    """
    return store_of(location).resumable(location) if is_remote(location) else Path(location)


def uploading(
    run_dir: Path, progress: Progress, *, every_seconds: float
) -> AbstractContextManager[Upload | None]:
    """Upload a run during the block if it is kept at a URL; yields None if it is not.

    Raises:
        NelError: `HOME_FILE` cannot be read, or the store cannot be used.
    """
    path = run_dir / HOME_FILE
    if not path.is_file():
        return nullcontext()
    try:
        url = str(loads(path.read_bytes())["url"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"{path}, which says where the run is uploaded, cannot be read; remove it"
        ) from error
    return store_of(url).uploading(run_dir, progress, every_seconds=every_seconds)
