"""Baselines by name: sets and removes them, and finds the result that one stands for.

Depends on `nel.config.named_baselines`, which reads their file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from nel.comparison.reading import read_sides
from nel.config.named_baselines import Baseline, baselines_file, read_baselines
from nel.core.atomic_files import write_file
from nel.core.strict_json import pretty
from nel.errors import OutputError, UsageError, did_you_mean

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")
"""``nightly-2026.07``."""


def set_baseline(name: str, result: Path) -> Baseline:
    """Let a name stand for a finished result, whatever it stood for before, and return that.

    Raises:
        UsageError: The name cannot be one.
        OutputError: There is no finished result, or the file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f'"{name}" cannot name a baseline; use letters, digits, ".", "_" and "-", at most 81'
        )
    baselines = read_baselines()
    (side,) = read_sides([str(result)])
    baseline = Baseline(directory=str(result.expanduser().resolve()), run_id=side.run_id)
    _write({**baselines, name: baseline})
    return baseline


def remove_baseline(name: str) -> None:
    """Forget a name; the result stays.

    Raises:
        UsageError: There is no such baseline.
        OutputError: The file cannot be read or written.
    """
    baselines = read_baselines()
    if name not in baselines:
        raise _unknown(name, baselines)
    _write({label: baseline for label, baseline in baselines.items() if label != name})


def baseline_side(name: str) -> str:
    """Return a baseline as `read_sides` takes one.

    Raises:
        UsageError: There is no such baseline.
        OutputError: Its directory is gone, or holds another run now.
    """
    baselines = read_baselines()
    if name not in baselines:
        raise _unknown(name, baselines)
    baseline = baselines[name]
    advice = f"set it again with nel baseline set {name} DIR"
    if not Path(baseline.directory).exists():
        raise OutputError(f'the baseline "{name}" is gone from {baseline.directory}; {advice}')
    side = f"{name}={baseline.directory}"
    (read_side,) = read_sides([side])
    if read_side.run_id != baseline.run_id:
        raise OutputError(
            f'the baseline "{name}" is {baseline.run_id}, and {baseline.directory} holds'
            f" {read_side.run_id} now; {advice}"
        )
    return side


def with_baseline(name: str | None, sides: Sequence[str]) -> list[str]:
    """Return the sides of a comparison, the named baseline before the others where there is one.

    Raises:
        UsageError: As `baseline_side`.
        OutputError: As `baseline_side`.
    """
    return list(sides) if name is None else [baseline_side(name), *sides]


def _unknown(name: str, baselines: Mapping[str, Baseline]) -> UsageError:
    names = f"; there are {', '.join(baselines)}" if baselines else "; there are none"
    hint = did_you_mean(name, baselines) or names
    return UsageError(
        f'no baseline "{name}" in {baselines_file()}{hint}; set one with nel baseline set {name}'
        " DIR"
    )


def _write(baselines: Mapping[str, Baseline]) -> None:
    path = baselines_file()
    content: dict[str, Any] = {
        "baselines": {name: asdict(baseline) for name, baseline in sorted(baselines.items())}
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    write_file(path, [pretty(content)])
