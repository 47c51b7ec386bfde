"""A digest of the inputs of a run: its configuration, the installed code and the datasets.

A finished run with an equal digest need not be computed again. A run that depends on anything else
has no digest.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from nel.core.paths import exists
from nel.core.strict_json import dumps_bytes
from nel.engine.local_paths import with_absolute_paths
from nel.engine.planning.plan import Plan
from nel.engine.session_spec import SessionSpec
from nel.version import __version__

_INSTALLED: Final = ("site-packages", "dist-packages")
_PACKAGE: Final = Path(__file__).parents[1]


def inputs_of(spec: SessionSpec) -> str | None:
    """Return the digest of a run's inputs before a session; None where they cannot be compared."""
    config, observability = spec.config, spec.config.observability
    # Observers and the metrics port act on each session, whatever its result.
    if config.stop.when or observability.observers or observability.metrics_port is not None:
        return None
    if not all(map(_is_comparable, spec.plans)):
        return None
    settings = with_absolute_paths(config)
    settings["output"] |= {"dir": None, "run_id": None}  # a run may be moved, and resumed there
    plans = [
        [plan.slot, dict(plan.fields), plan.dataset.fingerprint, _examples(plan)]
        for plan in spec.plans
    ]
    with suppress(OSError):  # a file of code that cannot be read
        inputs = [__version__, sys.version, settings, plans, *_code()]
        return hashlib.sha256(dumps_bytes(inputs)).hexdigest()
    return None


def _is_comparable(plan: Plan) -> bool:
    return (
        plan.unreadable is None
        and not plan.unseen
        and plan.dataset.fingerprint is not None
        and plan.benchmark.images_field is None
        and plan.config.repeat_check is None
    )


def _examples(plan: Plan) -> str:
    shots = plan.benchmark.shots
    return "" if shots is None else repr(sorted(shots.pools.items(), key=repr))


def _code() -> Iterator[object]:
    """Yield what changes with the code: times of installation, and the content of other modules."""
    # An installation writes into its folder, whose time changes; to read every file would be slow.
    folders = [folder for folder in sys.path if Path(folder).name in _INSTALLED]
    yield [[folder, Path(folder).stat().st_mtime_ns] for folder in folders if exists(folder)]
    python = (Path(os.__file__).parent, Path(sys.executable).parent, _PACKAGE)
    skipped = (*map(str, python), *folders)
    modules = [getattr(module, "__dict__", {}) for module in [*sys.modules.values()]]
    files = {str(names.get("__file__")) for names in modules}
    yield [
        [file, file_digest(Path(file))]
        for file in sorted(files)
        if not file.startswith(skipped) and Path(file).is_file()
    ]
    if not str(_PACKAGE).startswith(tuple(folders)):  # it may be edited where it lies
        yield max(_times_of_code(_PACKAGE))


def _times_of_code(folder: Path) -> Iterator[int]:
    # `os`, since a Path for each of a thousand files would double the time that a start waits here.
    for directory, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".py"):
                yield os.stat(os.path.join(directory, name)).st_mtime_ns  # noqa: PTH116, PTH118


def file_digest(file: Path) -> str:
    """Return the digest of the content of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
