"""Where runs of remote stores are on this machine: the live ones, and copies for reading. Depends
on the cache folder.

A live run knows where it belongs by a hidden file beside its run.db, so that it is uploaded again
whenever it goes on.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from nel.core.atomic_files import write_file
from nel.core.paths import cache_directory
from nel.core.strict_json import loads, pretty
from nel.engine.store.lock import owner_of
from nel.engine.store.remote import HOME_FILE, is_remote
from nel.engine.store.snapshot import FILE_NAME
from nel.errors import OutputError
from nel_remote.objects import Objects
from nel_remote.snapshots import MANIFEST, fetch, read_manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where a run belongs."""

    url: str
    """Of the directory of runs; the run's name follows."""
    number: int
    """Of the snapshot that was uploaded or fetched last; 0 before the first."""


def live_directory(url: str) -> Path:
    """Return the directory of this machine in which runs of a remote directory are worked on."""
    return _cache() / "live" / _digest(url)


def home_of(run_dir: Path) -> Home | None:
    """Return where a run of this machine belongs, None where that is here.

    Raises:
        OutputError: Its note of that cannot be read.
    """
    path = run_dir / HOME_FILE
    if not path.is_file():
        return None
    try:
        note = loads(path.read_bytes())
        return Home(url=str(note["url"]), number=int(note["number"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"{path}, which says where the run is uploaded, cannot be read; remove it"
        ) from error


def set_home(run_dir: Path, home: Home) -> None:
    """Note where a run belongs."""
    write_file(run_dir / HOME_FILE, [pretty({"url": home.url, "number": home.number})])


def split(url: str) -> tuple[str, str]:
    """Return the URL of the directory and the name of a run in it.

    Raises:
        OutputError: The URL names no run.
    """
    parent, _, name = url.rstrip("/").rpartition("/")
    if not name or not is_remote(f"{parent}/x") or parent.endswith(":/"):
        raise OutputError(f"{url} names no run; give the URL of one, such as s3://BUCKET/RUNS/RUN")
    return parent, name


def resumable(url: str) -> Path:
    """Return the directory of this machine in which a remote run goes on: the live one, or the
    newest snapshot.

    Raises:
        OutputError: There is no such run, or it cannot be fetched.
    """
    parent, name = split(url)
    run_dir = live_directory(parent) / name
    objects = Objects(parent)
    manifest = read_manifest(objects, name)
    home = home_of(run_dir)
    if (run_dir / FILE_NAME).is_file() and home is not None:
        if manifest is None or manifest.number <= home.number:
            return run_dir
        _set_aside(run_dir)
    elif run_dir.exists():
        _set_aside(run_dir)
    run_dir.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    snapshot = fetch(objects, name, run_dir)
    set_home(run_dir, Home(url=parent, number=snapshot.number))
    return run_dir


def local_copy(url: str) -> Path:
    """Return a copy, for reading, of the newest snapshots of a run or a directory of runs.

    Raises:
        OutputError: There is no such run, or it cannot be fetched.
    """
    url = url.rstrip("/")
    if "/" in url.partition("://")[2]:
        parent, name = split(url)
        objects = Objects(parent)
        if objects.read(f"{name}/{MANIFEST}") is not None:
            return _copy(objects, name)
    store = Objects(url)
    names = [name for name in store.names("") if store.read(f"{name}/{MANIFEST}") is not None]
    if not names:
        raise OutputError(f"there is no run at {url}")
    copies = [_copy(store, name) for name in names]
    return copies[0].parent


def _copy(objects: Objects, name: str) -> Path:
    target = _cache() / "read" / _digest(objects.url) / name
    manifest = read_manifest(objects, name)
    home = home_of(target)
    if manifest is not None and home is not None and home.number == manifest.number:
        return target
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    snapshot = fetch(objects, name, target)
    set_home(target, Home(url=objects.url, number=snapshot.number))
    return target


def _set_aside(run_dir: Path) -> None:
    """Keep what another machine has gone on without, under another name."""
    owner = owner_of(run_dir)
    if owner is not None:
        raise OutputError(
            f"{run_dir} is in use by process {owner.pid} on {owner.host}; wait for it or stop it"
        )
    number = 1
    while (aside := run_dir.with_name(f"{run_dir.name}.superseded-{number}")).exists():
        number += 1
    run_dir.rename(aside)


def _digest(url: str) -> str:
    return hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:16]


def _cache() -> Path:
    return cache_directory() / "remote"
