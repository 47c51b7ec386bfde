"""Where a benchmark's artifacts go: a directory name that is safe and unique for every benchmark name.

Trap: names come from plugins; one that climbs out of the run's directory must not.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from nel.errors import OutputError


def directory_name(slot: str) -> str:
    """Return a safe, unique directory name for a benchmark: percent-encoded where it has to be."""
    name = quote(slot, safe="@+=, ")
    return name.replace(".", "%2E", 1) if name.startswith(".") else name


def benchmark_dir(run_dir: Path, slot: str) -> Path:
    """Create and return the artifact directory of a benchmark.

    Raises:
        OutputError: It cannot be created.
    """
    path = run_dir / directory_name(slot)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create {path}: {error.strerror}") from error
    return path
