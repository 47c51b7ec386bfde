"""Keeps runs in a folder of this machine: ``-o example-shelf:///mnt/shelf``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nel import Progress, RunStore
from nel.core.atomic_files import write_file
from nel.core.strict_json import loads, pretty
from nel.engine.store.remote import HOME_FILE

WORK = Path("example-shelf")


@dataclass(frozen=True, kw_only=True)
class Upload:
    """The copy at the end of a session."""

    url: str
    problem: str | None = None


class Shelf(RunStore):
    """Copies a run to its folder when a session ends, and back when it goes on elsewhere."""

    def live_directory(self, url: str) -> Path:
        """Return a folder below the current one."""
        return WORK.absolute()

    def keep(self, run_dir: Path, url: str) -> None:
        """Note where the run is kept."""
        write_file(run_dir / HOME_FILE, [pretty({"url": f"{url}/{run_dir.name}"})])

    @contextmanager
    def uploading(
        self, run_dir: Path, progress: Progress, *, every_seconds: float
    ) -> Iterator[Upload]:
        """Copy the run at the end."""
        url = loads((run_dir / HOME_FILE).read_bytes())["url"]
        try:
            yield Upload(url=url)
        finally:
            shutil.copytree(run_dir, self.local_copy(url), dirs_exist_ok=True)

    def resumable(self, url: str) -> Path:
        """Return a copy to work on."""
        run_dir = self.live_directory(url) / self.local_copy(url).name
        shutil.copytree(self.local_copy(url), run_dir, dirs_exist_ok=True)
        return run_dir

    def local_copy(self, url: str) -> Path:
        """Return the folder itself."""
        return Path(url.partition("://")[2])


SHELF = Shelf()
