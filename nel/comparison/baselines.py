"""Baselines by name: a file of the user's that says which result a name stands for. Depends on the file system only.

The file is ``NEL_BASELINES`` where that is set, else ``nel/baselines.json`` in ``XDG_CONFIG_HOME`` or ``~/.config``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from nel.comparison.reading import read_sides
from nel.core.atomic_files import write_file
from nel.core.strict_json import loads, pretty
from nel.errors import OutputError, UsageError, did_you_mean

FILE_VARIABLE: Final = "NEL_BASELINES"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A result that a name stands for."""

    directory: str
    """Its absolute path."""
    run_id: str | None
    """Of a run of nel; another run in the directory is not the baseline. None where the result has none."""


def baselines_file() -> Path:
    """Return the path of the file, which need not exist."""
    named = os.environ.get(FILE_VARIABLE)
    if named:
        return Path(named).expanduser()
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "nel" / "baselines.json"


def read_baselines() -> dict[str, Baseline]:
    """Return every baseline by its name, in the order of the names.

    Raises:
        OutputError: The file cannot be read, or does not hold baselines.
    """
    path = baselines_file()
    try:
        stored = loads(path.read_bytes())["baselines"]
        return {name: Baseline(**stored[name]) for name in sorted(stored)}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise OutputError(f"cannot read the baselines in {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path} holds no baselines ({error}); correct or delete it") from error


def set_baseline(name: str, result: Path) -> Baseline:
    """Let a name stand for a finished result, whatever it stood for before, and return that.

    Raises:
        UsageError: The name cannot be one.
        OutputError: There is no finished result, or the file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f'"{name}" cannot name a baseline; use letters, digits, ".", "_" and "-", at most 81')
    known = read_baselines()
    (side,) = read_sides([str(result)])
    found = Baseline(directory=str(result.expanduser().resolve()), run_id=side.run_id)
    _write({**known, name: found})
    return found


def remove_baseline(name: str) -> None:
    """Forget a name; the result stays.

    Raises:
        UsageError: There is no such baseline.
        OutputError: The file cannot be read or written.
    """
    known = read_baselines()
    if name not in known:
        raise _unknown(name, known)
    _write({one: baseline for one, baseline in known.items() if one != name})


def baseline_side(name: str) -> str:
    """Return a baseline as `read_sides` takes one.

    Raises:
        UsageError: There is no such baseline.
        OutputError: Its directory is gone, or holds another run now.
    """
    known = read_baselines()
    if name not in known:
        raise _unknown(name, known)
    baseline = known[name]
    again = f"set it again with nel baseline set {name} DIR"
    if not Path(baseline.directory).exists():
        raise OutputError(f'the baseline "{name}" is gone from {baseline.directory}; {again}')
    side = f"{name}={baseline.directory}"
    (found,) = read_sides([side])
    if found.run_id != baseline.run_id:
        raise OutputError(
            f'the baseline "{name}" is {baseline.run_id}, and {baseline.directory} holds {found.run_id} now; {again}'
        )
    return side


def with_baseline(name: str | None, sides: Sequence[str]) -> list[str]:
    """Return the sides of a comparison, the named baseline before the others where there is one.

    Raises:
        UsageError: As `baseline_side`.
        OutputError: As `baseline_side`.
    """
    return list(sides) if name is None else [baseline_side(name), *sides]


def _unknown(name: str, known: Mapping[str, Baseline]) -> UsageError:
    listed = f"; there are {', '.join(known)}" if known else "; there are none"
    return UsageError(
        f'no baseline "{name}" in {baselines_file()}{did_you_mean(name, known) or listed}; set one with '
        f"nel baseline set {name} DIR"
    )


def _write(baselines: Mapping[str, Baseline]) -> None:
    path = baselines_file()
    content: dict[str, Any] = {"baselines": {name: asdict(one) for name, one in sorted(baselines.items())}}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    write_file(path, [pretty(content)])
