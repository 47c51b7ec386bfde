"""Arguments that name a run by its directory or by a URL."""

from __future__ import annotations

from pathlib import Path


def run_path(location: str) -> Path:
    """Return the directory of a run; of one at a URL, a copy of its newest snapshot for reading."""
    if "://" not in location:
        return Path(location)
    from nel.engine.store.remote import local_copy  # noqa: PLC0415 - keeps --help fast

    return local_copy(location)


def resumed_path(location: str) -> Path:
    """Return the directory in which a run goes on, fetched where its URL has a newer state."""
    if "://" not in location:
        return Path(location)
    from nel.engine.store.remote import resumable  # noqa: PLC0415 - keeps --help fast

    return resumable(location)
