"""The directory of a run: creates it, finds the one to resume, and stores the configuration."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from nel.config.schema import RunConfig
from nel.core.strict_json import dumps_bytes, loads
from nel.engine.local_paths import with_absolute_paths
from nel.engine.store.log import Log
from nel.engine.store.schema import check_path
from nel.engine.store.snapshot import FILE_NAME, RUNS, Snapshot, start_of
from nel.errors import OutputError, ResumeRefused
from nel.types import JsonObject

_SUFFIX_BYTES = 3
_NAME_MAX = 80
_FIRST_CONFIG = "not-begun.json"
"""Holds the configuration until run.db does, so that a run can be resumed if it is killed first."""


def new_directory(config: RunConfig, name: str, *, first: tuple[str, bytes] | None = None) -> Path:
    """Create and return the directory of a run or a matrix, named by time, name and random suffix.

    It is renamed into place with its first file, so that it never exists without what a resume
    needs.

    Args:
        config: Has the parent directory, and perhaps the run id.
        name: A part of the directory's name.
        first: Name and content of the first file; by default the configuration of a run.

    Raises:
        OutputError: It cannot be created, its path is too long, or the configured run id is taken.
    """
    parent = Path(config.output.dir)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    unique_name = f"{stamp}-{name[:_NAME_MAX]}-{secrets.token_hex(_SUFFIX_BYTES)}"
    run_dir = parent / (config.output.run_id or unique_name)
    file_name, content = first or (_FIRST_CONFIG, dumps_bytes(with_absolute_paths(config)))
    try:
        check_path(run_dir / FILE_NAME)
        parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=parent, ignore_cleanup_errors=True) as work:
            (Path(work) / file_name).write_bytes(content)
            if run_dir.exists():
                raise FileExistsError(run_dir)
            # Fails where another process was faster: its directory is not empty.
            Path(work).rename(run_dir)
    except FileExistsError as error:
        if not parent.is_dir():
            raise OutputError(
                f"{parent} is not a directory; choose another --output-dir"
            ) from error
        raise OutputError(
            f"{run_dir} already exists; resume it with --resume or choose another run id"
        ) from error
    except OSError as error:
        raise OutputError(
            f"cannot write to {parent}: {error.strerror}; choose another --output-dir"
        ) from error
    return run_dir


def latest_run_dir(output_dir: Path, run_id: str | None) -> Path:
    """Return the run to resume: the directory itself, the named run in it, or the one started last.

    Raises:
        OutputError: There is none.
    """
    if run_id is not None:
        output_dir = output_dir / run_id
    if (output_dir / FILE_NAME).is_file():
        return output_dir
    runs = sorted(output_dir.glob(RUNS), key=lambda path: (start_of(path), path.parent.name))
    if not runs:
        raise OutputError(f"there is no run to resume in {output_dir}; start one with nel eval run")
    return runs[-1].parent


def config_before_begin(run_dir: Path) -> JsonObject | None:
    """Return the configuration of a run that was killed before run.db had it, else None.

    Creates an empty run.db where there is none.
    """
    try:
        config: JsonObject = loads((run_dir / _FIRST_CONFIG).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    if not (run_dir / FILE_NAME).exists():
        Log(run_dir / FILE_NAME).close()
    return config


def note_begin(run_dir: Path) -> None:
    """Remove the first configuration, once run.db has it."""
    (run_dir / _FIRST_CONFIG).unlink(missing_ok=True)


def refuse_imported(snapshot: Snapshot, run: object) -> None:
    """Raise ResumeRefused for imported results of another tool."""
    imported = snapshot.meta("imported")
    if imported is not None:
        raise ResumeRefused(
            f"{run} was imported from {imported['format']} and can neither be resumed nor scored"
            " again; view or compare it, or start a run of its benchmark with nel eval run"
        )


def store_config(store: Log, snapshot: Snapshot, run_id: str, config: RunConfig) -> None:
    """Store the configuration of a session; a resumed run keeps its output settings."""
    refuse_imported(snapshot, run_id)
    stored = snapshot.meta("config")
    data = with_absolute_paths(config)
    if stored is None:
        store.set_meta("run_id", run_id)
    else:
        data["output"] = stored["output"]
    store.set_meta("config", data)
