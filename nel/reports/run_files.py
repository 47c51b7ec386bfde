"""Finds and reads the artifact files of a run, as JSON.

An artifact may be missing or damaged; the error says which one and how to regenerate it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from nel.core.strict_json import loads
from nel.errors import OutputError
from nel.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFiles:
    """The artifacts of one benchmark, the small ones already read."""

    directory: Path
    metrics: dict[str, Any]
    bundle: dict[str, Any]
    """Empty when the file is not there, as are the next two."""
    failures: dict[str, Any]
    runtime: dict[str, Any]

    @property
    def title(self) -> str:
        """Return the benchmark's name, with what tells it from others of that name: ``@2``, or the
        name of its prompt.
        """
        slot = unquote(self.directory.name)
        name = str(self.metrics.get("benchmark", slot))
        return slot if slot.startswith(f"{name}@") else name

    def results(self) -> Iterator[dict[str, Any]]:
        """Yield the objects of results.jsonl in file order, one in memory; none without the file.

        Raises:
            OutputError: A line is not a JSON object.
        """
        return (result for _, result in self.numbered_results())

    def numbered_results(
        self, line_numbers: Container[int] | None = None
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of `results` with the number of their line.

        Args:
            line_numbers: Of the lines that are decoded; None for all.
        """
        path = self.directory / "results.jsonl"
        if not path.is_file():
            return
        where = f"{self.directory.name}/results.jsonl, line"
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if (line_numbers is None or number in line_numbers) and not line.isspace():
                    yield number, json_object(line, f"{where} {number}")


def stored_files(run_dir: Path) -> list[BenchmarkFiles]:
    """Return the benchmarks of a run as their files are, unchecked, sorted by directory name.

    For what has just been written; `nel.reports.whole_run` reads all else.

    Raises:
        OutputError: The directory has no benchmark with a metrics.json, or a file is not what it
            should be.
    """
    paths = sorted(run_dir.glob("*/metrics.json"), key=lambda path: path.parent.name)
    if not paths:
        raise OutputError(
            f"no artifacts in {run_dir}: no subdirectory has a metrics.json; give the directory of"
            " a run"
        )
    return [_read_benchmark(path.parent) for path in paths]


def read_aggregates(run_dir: Path) -> list[dict[str, Any]]:
    """Return the means over several benchmarks of a run; none where it names none.

    Raises:
        OutputError: aggregates.json is not strict JSON.
    """
    document: dict[str, Any] = _read(run_dir / "aggregates.json")
    return document.get("aggregates") or []


def by_title(rows: Iterable[JsonObject]) -> dict[str, JsonObject]:
    """Return means by their names, the further ones of one name with their metric."""
    titles: dict[str, JsonObject] = {}
    for row in rows:
        name = str(row["aggregate"])
        titles[f"{name}, {row['name']}" if name in titles else name] = row
    return titles


def read_run_yaml(run_dir: Path) -> str | None:
    """Return the text of run.yaml, or None when there is none."""
    path = run_dir / "run.yaml"
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def _read_benchmark(directory: Path) -> BenchmarkFiles:
    bundles = sorted(directory.glob("eval-*.json"))
    return BenchmarkFiles(
        directory=directory,
        metrics=_read(directory / "metrics.json"),
        bundle=_read(bundles[0]) if bundles else {},
        failures=_read(directory / "failure_analysis.json"),
        runtime=_read(directory / "runtime_stats.json"),
    )


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    return json_object(path.read_bytes(), f"{path.parent.name}/{path.name}")


def json_object(
    data: bytes, where: str, remedy: str = "make it again with nel report"
) -> dict[str, Any]:
    """Return the JSON object of a line or a file.

    Args:
        data: The line or the file.
        where: Where it stands.
        remedy: What to do where it is none.

    Raises:
        OutputError: It is not strict JSON, or not an object.
    """
    try:
        value = loads(data)
    except ValueError as error:
        raise OutputError(f"{where} is not strict JSON ({error}); {remedy}") from error
    if not isinstance(value, dict):
        raise OutputError(f"{where} is not a JSON object; {remedy}")
    return value
