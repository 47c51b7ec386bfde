"""Names of files and directories of a run's artifacts: a directory that is safe and unique for
every benchmark name, and what its artifacts are made of beside run.db.

Benchmark names come from plugins, so a name must not lead out of the run's directory.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final
from urllib.parse import quote

from nel.errors import OutputError

LABELS_NAME: Final = "labels.jsonl"
CALIBRATION_NAME: Final = "calibration.json"
BORROWED_NAME: Final = "calibration_from.json"
AUDIT_NAME: Final = "extraction_audit.json"
READER: Final = "reader"
INPUTS: Final = (LABELS_NAME, BORROWED_NAME, AUDIT_NAME, READER)
"""What artifacts are made of beside run.db."""
_LENGTH_MAX = 160
"""Leaves room for what is put before and after a name in 255 bytes."""
_DIGEST_LENGTH = 16


def directory_name(slot: str) -> str:
    """Return a safe, unique directory name for a benchmark: percent-encoded where it has to be."""
    name = quote(slot, safe="@+=, ")
    if name.startswith("."):  # neither "." nor ".." nor a hidden folder
        name = name.replace(".", "%2E", 1)
    if len(name) <= _LENGTH_MAX:
        return name
    start = name[: _LENGTH_MAX - _DIGEST_LENGTH - 1]
    digest = hashlib.sha256(slot.encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{start}~{digest}"


def benchmark_dir(run_dir: Path, slot: str) -> Path:
    """Create and return the artifact directory of a benchmark.

    Raises:
        OutputError: It cannot be created.
    """
    path = run_dir / directory_name(slot)
    if path.is_symlink():
        raise OutputError(f"{path} is a link, which nel did not make; remove it")
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        step = (
            "remove what is there"
            if isinstance(error, FileExistsError)
            else "make its directory writable"
        )
        raise OutputError(
            f"cannot create {path}: {error.strerror}; {step}, then run nel eval resume"
        ) from error
    return path
