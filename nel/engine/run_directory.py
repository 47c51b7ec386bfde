"""The directory of a run: its name, which one is resumed, and its stored configuration."""

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
"""Holds the configuration until run.db does, so that a run killed before can be resumed."""


def new_directory(config: RunConfig, name: str, *, first: tuple[str, bytes] | None = None) -> Path:
    """Create and return a new directory of a run or of several, named by time, a name and a random
    suffix; it has its name once it holds the file that a resume begins with.

    Args:
        config: Says where.
        name: A part of its name.
        first: Name and content of that file; the configuration of a run where there is none.

    Raises:
        OutputError: It cannot be created, its path is too long, or the configured run id is taken.
    """
    parent = Path(config.output.dir)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    run_id = (
        config.output.run_id or f"{stamp}-{name[:_NAME_MAX]}-{secrets.token_hex(_SUFFIX_BYTES)}"
    )
    run_dir = parent / run_id
    file_name, content = first or (_FIRST_CONFIG, dumps_bytes(with_absolute_paths(config)))
    try:
        check_path(run_dir / FILE_NAME)
        parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=parent, ignore_cleanup_errors=True) as made:
            (Path(made) / file_name).write_bytes(content)
            if run_dir.exists():
                raise FileExistsError(run_dir)
            Path(made).rename(run_dir)  # fails where another process was faster
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
    """Return the configuration of a run that was killed before it began, for which an empty run.db
    is made where there is none; None for every other run.
    """
    try:
        config: JsonObject = loads((run_dir / _FIRST_CONFIG).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    if not (run_dir / FILE_NAME).exists():
        Log(run_dir / FILE_NAME).close()
    return config


def note_begin(run_dir: Path) -> None:
    """Drop the configuration that another file of the directory holds by now."""
    (run_dir / _FIRST_CONFIG).unlink(missing_ok=True)


def refuse_imported(snapshot: Snapshot, run: object) -> None:
    """Raise ResumeRefused for another tool's results: nothing can ask or score them."""
    imported = snapshot.meta("imported")
    if imported is not None:
        raise ResumeRefused(
            f"{run} was imported from {imported['format']} and can neither be resumed nor scored"
            " again; view or compare it, or start a run of its benchmark with nel eval run"
        )


def store_config(store: Log, snapshot: Snapshot, run_id: str, config: RunConfig) -> None:
    """Keep the configuration of a session; a resumed run stays where it is."""
    refuse_imported(snapshot, run_id)
    stored = snapshot.meta("config")
    data = with_absolute_paths(config)
    if stored is None:
        store.set_meta("run_id", run_id)
    else:
        data["output"] = stored["output"]
    store.set_meta("config", data)
