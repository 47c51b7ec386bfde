"""What a call in Python may hold instead of a name or a path: benchmark objects, and rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from nel.authoring.benchmark import Benchmark
from nel.authoring.registry import hold_object
from nel.config.user_settings import output_directory
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_line
from nel.datasets.in_memory import rows_of
from nel.engine.store.remote import is_remote
from nel.errors import ConfigError


def with_names(config: object) -> dict[str, object]:
    """Return a configuration in which names stand for benchmark objects, and files for rows.

    Rows are written below the directory of runs, in a file that is named by their content, so that
    the run can be resumed from the command line too.

    Raises:
        ConfigError: It is neither a mapping nor a benchmark; or rows have no directory to be
            written to.
        DatasetError: A row is not a mapping, or holds what JSON cannot.
    """
    if isinstance(config, Benchmark):
        config = {"benchmarks": [config]}
    if not isinstance(config, Mapping):
        raise ConfigError(
            f"the configuration is a {type(config).__name__}; give a mapping, in which rows are the"
            ' dataset of a benchmark: {"benchmarks": [{"name": "gsm8k", "dataset": rows}]}'
        )
    benchmarks = config.get("benchmarks")
    if isinstance(benchmarks, Benchmark):
        benchmarks = [benchmarks]
    if not isinstance(benchmarks, list | tuple):
        return dict(config)
    output = config.get("output")
    output_folder = output.get("dir") if isinstance(output, Mapping) else None
    folder = str(output_folder or output_directory())
    return {**config, "benchmarks": [_with_names(entry, folder) for entry in benchmarks]}


def _with_names(entry: object, folder: str) -> object:
    if isinstance(entry, Benchmark):
        return {"name": hold_object(entry)}
    if not isinstance(entry, Mapping):
        return entry
    named_entry = dict(entry)
    if isinstance(named_entry.get("name"), Benchmark):
        named_entry["name"] = hold_object(named_entry["name"])
    rows = rows_of(named_entry.get("dataset"), "dataset")
    if rows is not None:
        named_entry["dataset"] = _write_rows(rows, folder)
    return named_entry


def _write_rows(rows: list[dict[str, object]], folder: str) -> str:
    """Write rows to a file that is named by their content, and return its path."""
    if is_remote(folder):
        raise ConfigError(
            f"rows cannot be written to {folder}; write them to a file and give its path as dataset"
        )
    content = b"".join(map(dumps_line, rows))
    path = Path(folder) / f"rows-{hashlib.sha256(content).hexdigest()[:16]}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, [content])
    return str(path)
