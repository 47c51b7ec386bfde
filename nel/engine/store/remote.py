"""Runs that are kept at a URL: the plugin of its scheme, of the group ``nel.stores``.

A run always works on a local disk. A store says where, uploads it while it goes on, and fetches it.
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
"""In the directory of a run that is kept elsewhere: a JSON object whose ``url`` says where; the
rest is the store's.
"""
_SCHEME_MIN: Final = 2
"""Shorter ones are drives."""


class Upload(Protocol):
    """The uploads of one session."""

    @property
    def url(self) -> str:
        """Return the URL of the run."""

    @property
    def problem(self) -> str | None:
        """Return why the last upload failed, None where it did not."""


class RunStore(ABC):
    """Keeps runs at URLs of one scheme or several. Every method raises `NelError` for a store that
    cannot be used, read or written.
    """

    @abstractmethod
    def live_directory(self, url: str) -> Path:
        """Return the local directory in which runs of a directory at a URL are worked on."""

    @abstractmethod
    def keep(self, run_dir: Path, url: str) -> None:
        """Write `HOME_FILE` into a new run's directory: it is kept in the directory at this URL."""

    @abstractmethod
    def uploading(
        self, run_dir: Path, progress: Progress, *, every_seconds: float
    ) -> AbstractContextManager[Upload | None]:
        """Upload a run within the block, and all of it at the end, however the block was left."""

    @abstractmethod
    def resumable(self, url: str) -> Path:
        """Return the local directory in which the run at a URL goes on."""

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
    """Return a path as it is; of a run, or directory of runs, at a URL a copy for reading.

    Raises:
        NelError: There is no such run, or it cannot be fetched.
    """
    return store_of(location).local_copy(location) if is_remote(location) else Path(location)


def resumable(location: str) -> Path:
    """Return the directory of this machine in which a run goes on.

    Raises:
        NelError: There is no such run, or it cannot be fetched.
    """
    return store_of(location).resumable(location) if is_remote(location) else Path(location)


def uploading(
    run_dir: Path, progress: Progress, *, every_seconds: float
) -> AbstractContextManager[Upload | None]:
    """Upload a run within the block where it is kept elsewhere; yields None where it is not.

    Raises:
        NelError: The note of that cannot be read, or the store cannot be used.
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
