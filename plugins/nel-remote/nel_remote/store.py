"""What nel asks of a store of runs, over fsspec."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from nel import Progress, RunStore
from nel_remote import places
from nel_remote.objects import Objects
from nel_remote.uploading import Mirror, uploads


class FsspecStore(RunStore):
    """Keeps runs at URLs of fsspec."""

    def live_directory(self, url: str) -> Path:
        """Return a directory in the cache; what cannot be used is said before there is one."""
        Objects(url)
        return places.live_directory(url)

    def keep(self, run_dir: Path, url: str) -> None:
        """Note the URL beside the run."""
        places.set_home(run_dir, places.Home(url=url.rstrip("/"), number=0))

    def uploading(
        self, run_dir: Path, progress: Progress, *, every_seconds: float
    ) -> AbstractContextManager[Mirror | None]:
        """Upload snapshots."""
        return uploads(run_dir, progress, every_seconds=every_seconds)

    def resumable(self, url: str) -> Path:
        """Return the live directory, or that of the newest snapshot."""
        return places.resumable(url)

    def local_copy(self, url: str) -> Path:
        """Return a copy in the cache."""
        return places.local_copy(url)


STORE: Final = FsspecStore()
