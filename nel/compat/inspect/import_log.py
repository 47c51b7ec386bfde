"""Reads Inspect logs (format version 2), ``.eval`` and ``.json``, without inspect_ai."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from nel.artifacts.importing.contract import ImportedBenchmark, ImportedRun
from nel.artifacts.importing.reading import (
    begins_with,
    numbers_of,
    read_json,
    read_object,
    required_field,
    seconds_of,
    text,
)
from nel.compat.inspect.import_values import result_of
from nel.core.json_values import inner
from nel.errors import OutputError
from nel.types import JsonObject

_CONVERT: Final = (
    "inspect log convert LOG --to json --output-dir OUT writes one that can be imported"
)
_Samples: TypeAlias = Callable[[], Iterator[tuple[dict[str, Any], str]]]


def import_inspect(source: Path) -> ImportedRun | None:
    """Inspect logs: a .eval or .json file, or a directory with some.

    Returns None where there is none.

    Raises:
        OutputError: A log is damaged, still written, or compressed in a way that this Python cannot
            read.
    """
    paths = sorted(log for log in source.iterdir() if is_log(log)) if source.is_dir() else [source]
    benchmarks = [_benchmark(path) for path in paths if is_log(path)]
    if not benchmarks:
        return None
    notes = ("A sample with an error is unscored; samples that the log does not hold are unknown.",)
    return ImportedRun(format="inspect", benchmarks=benchmarks, notes=notes)


def is_log(path: Path) -> bool:
    """Return whether a file is an Inspect log by its name and first bytes."""
    if path.suffix == ".eval":
        return path.is_file()
    return begins_with(path, "eval", "status", "version")


def _benchmark(path: Path) -> ImportedBenchmark:
    header, samples = _read_zip(path) if path.suffix == ".eval" else _read_document(path)
    spec = required_field(header, "eval", dict, str(path))
    status = required_field(header, "status", str, str(path))
    stats = inner(header, "stats")
    start = seconds_of(stats.get("started_at"))
    end = seconds_of(stats.get("completed_at"))
    elapsed = None
    if start is not None and end is not None:
        elapsed = end - start
    scores = _scores(header)
    # A log that nel exported has the run's configuration with the scorer's version.
    nel_config = inner(inner(inner(spec, "metadata"), "nel"), "config")
    scorers = tuple(scores) or _scorers_of(spec, samples)
    generation = {
        name: setting
        for name, setting in ((header.get("plan") or {}).get("config") or {}).items()
        if isinstance(setting, int | float | str | bool)
    }
    return ImportedBenchmark(
        name=required_field(spec, "task", str, str(path)),
        results=lambda: (result_of(sample, scorers, where) for sample, where in samples()),
        model=text(spec.get("model")),
        started=start or seconds_of(spec.get("created")),
        elapsed_seconds=elapsed,
        scorer=next(iter(scorers), None),
        scorer_version=text(inner(nel_config, "scorer").get("sha256")),
        dataset=text(inner(spec, "dataset").get("location")),
        generation=generation,
        scores=_all_metrics(scores),
        is_complete=status == "success",
    )


def _scores(header: JsonObject) -> dict[str, dict[str, float]]:
    """Return the metrics of the log by scorer, in its order."""
    scores: dict[str, dict[str, float]] = {}
    for score in (header.get("results") or {}).get("scores") or ():
        metrics = (score.get("metrics") or {}).items()
        values = numbers_of((name, value.get("value")) for name, value in metrics)
        scores.setdefault(str(score.get("scorer") or score.get("name")), values)
    return scores


def _scorers_of(spec: JsonObject, samples: _Samples) -> tuple[str, ...]:
    """Return the scorers of a log without results: of its start, else of its first scored one."""
    names = [scorer.get("name") for scorer in spec.get("scorers") or () if isinstance(scorer, dict)]
    scorers = tuple(name.rpartition("/")[2] for name in names if isinstance(name, str))
    if scorers:
        return scorers
    for sample, _ in samples():
        if sample.get("scores"):
            return tuple(sample["scores"])
    return ()


def _all_metrics(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return metrics by name: those of the first scorer, and ``scorer/metric`` of the others."""
    all_metrics: dict[str, float] = {}
    for position, (scorer, metrics) in enumerate(scores.items()):
        prefix = f"{scorer}/" if position else ""
        for name, value in metrics.items():
            all_metrics[prefix + name] = value
    return all_metrics


def _read_document(path: Path) -> tuple[dict[str, Any], _Samples]:
    log = read_json(path)
    entries = log.pop("samples", None) or []

    def samples() -> Iterator[tuple[dict[str, Any], str]]:
        for position, sample in enumerate(entries):
            where = f"{path}, sample {position + 1}"
            if not isinstance(sample, dict):
                raise OutputError(f"{where} is not a JSON object; give an undamaged copy")
            yield sample, where

    return log, samples


def _read_zip(path: Path) -> tuple[dict[str, Any], _Samples]:
    with _open_zip(path) as log:
        names = list(dict.fromkeys(log.namelist()))  # of a name that comes twice the last counts
        if "header.json" not in names:
            raise OutputError(
                f"{path} has no header.json: it is still written or was cut off; import it when it"
                " ended"
            )
        header = read_object(_member(log, "header.json", path), f"{path}, header.json")
    members = [name for name in names if name.startswith("samples/") and name.endswith(".json")]

    def samples() -> Iterator[tuple[dict[str, Any], str]]:
        with _open_zip(path) as log:
            for name in members:
                where = f"{path}, {name}"
                yield read_object(_member(log, name, path), where), where

    return header, samples


def _open_zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise OutputError(
            f"{path} is not an Inspect log ({error}); give an undamaged copy"
        ) from error


def _member(log: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        return log.read(name)
    except NotImplementedError as error:
        raise OutputError(
            f"{path} is compressed with zstd, which Python reads from 3.14 on; {_CONVERT}"
        ) from error
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise OutputError(f"{path}, {name} is damaged ({error}); give an undamaged copy") from error
