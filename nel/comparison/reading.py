"""Reads an argument of ``nel compare`` as what it is: a run of nel, or a result of another tool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nel.comparison import foreign, nel_runs
from nel.comparison.sides import Side
from nel.config.user_settings import output_directory
from nel.core.paths import exists
from nel.engine.store.remote import is_remote, local_copy
from nel.errors import ConfigError, OutputError, UsageError

_ACCEPTED = (
    "a run directory of nel, a result folder of NeMo Evaluator or a samples_*.jsonl file of lm-eval"
)


def read_sides(arguments: Sequence[str]) -> list[Side]:
    """Return a side for each ``PATH`` or ``NAME=PATH``, with names that tell them apart.

    Raises:
        OutputError: There is nothing, nothing finished or nothing known at a path.
        UsageError: Two sides were given the same name.
    """
    sides = [named_path(argument) for argument in arguments]
    names = [name for name, _ in sides if name is not None]
    if len(set(names)) < len(names):
        raise UsageError("two sides have the same name before =; give each a name of its own")
    labels = _labels([path for _, path in sides])
    return [_read(path, name or label) for (name, path), label in zip(sides, labels, strict=True)]


def named_path(argument: str) -> tuple[str | None, Path]:
    """Return the name and the path of ``PATH`` or ``NAME=PATH``; of a run at a URL, its copy here.

    Raises:
        ConfigError: The name is empty.
        NelError: What is at the URL cannot be fetched.
    """
    name, separator, path = argument.partition("=")
    if not separator or exists(argument) or is_remote(argument):
        return None, local_copy(argument)
    if not name.strip():
        raise ConfigError(f'"{argument}" has an empty name before "="; write NAME=DIR')
    return name.strip(), local_copy(path)


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return a short name of each path: its last part, with a number where two are equal."""
    names = [path.resolve().name for path in paths]
    return [
        f"{name}@{position + 1}" if names.count(name) > 1 else name
        for position, name in enumerate(names)
    ]


def _read(path: Path, label: str) -> Side:
    if not exists(path):
        run = Path(output_directory()) / path
        hint = f"; did you mean {run}?" if exists(run) else f"; give {_ACCEPTED}"
        raise OutputError(f"there is no {path}{hint}")
    if path.is_dir():
        side = _read_directory(path, label)
    elif foreign.is_lm_eval(path):
        side = foreign.read_lm_eval(path, label)
    elif (path.parent / "metrics.json").is_file() or any(path.parent.glob("eval-*.json")):
        raise OutputError(f"{path} is part of a result; give its directory, {path.parent.parent}")
    else:
        side = foreign.read_results_file(path, label)
    if not side.benchmarks:
        raise OutputError(f"{path} has no results; give {_ACCEPTED}")
    return side


def _read_directory(path: Path, label: str) -> Side:
    if (path / "metrics.json").is_file():
        raise OutputError(
            f"{path} is one benchmark of a run; give the directory of the run, {path.parent}"
        )
    if nel_runs.is_run(path):
        return nel_runs.read_side(path, label)
    if foreign.is_nemo(path):
        return foreign.read_nemo(path, label)
    if foreign.is_lm_eval(path):
        return foreign.read_lm_eval(path, label)
    hint = f"; give {_ACCEPTED}"
    runs = [database.parent.name for database in sorted(path.glob("*/run.db"))]
    if runs:
        hint = f"; it holds the runs {', '.join(runs[:3])}: give one of them"
    raise OutputError(f"{path} holds no results{hint}")
