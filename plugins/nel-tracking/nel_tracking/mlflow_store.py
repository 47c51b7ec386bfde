"""Writes a run into a store of MLflow: mlflow.db (SQLite) with metrics and parameters, and
artifacts beside it.

Needs MLflow. Nothing is sent: the store is a file, and MLflow's own telemetry is off.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import RunToExport, open_run, run_start
from nel.artifacts.exporting.table import (
    METRIC_COLUMNS,
    SAMPLE_COLUMNS,
    Row,
    metric_rows,
    sample_rows,
)
from nel.core.atomic_files import write_file
from nel.core.paths import final_directory
from nel.core.strict_json import dumps_bytes
from nel.errors import PluginError
from nel.reports.run_files import BenchmarkFiles
from nel_tracking.tracked import files_of, numbers_of, settings_of

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

STORE: Final = "mlflow.db"
_NOT_IN_NAMES: Final = re.compile(r"[^\w\-. :/]")
_LONGEST: Final = 5_000
"""Characters of a parameter; MLflow takes 6,000."""


def export_mlflow(run_dir: Path, output: Path) -> Exported:
    """A store of MLflow (SQLite): an experiment for each benchmark, with metrics, parameters,
    tables and artifacts.

    Raises:
        PluginError: MLflow is not installed.
        OutputError: The run is still written, or its artifacts are damaged.
        StoreError: The run.db is missing or damaged.
        StoppedEarly: The disk is full.
    """
    run, time = open_run(run_dir), run_start(run_dir)
    client = _client(output / STORE)
    paths = [output / STORE]
    directory = final_directory(output)
    for files in run.benchmarks:
        paths += _export(client, run, files, time, (output, directory))
    notes = (
        (
            f"The artifacts are those of {directory}: where the directory is moved, MLflow shows the"
            " numbers and no artifact."
        ),
        (
            "A metric without a value is left out; the counts of what has no score are metrics of"
            " their own."
        ),
    )
    return Exported(files=paths, notes=(*run.notes, *notes))


def _client(store: Path) -> MlflowClient:
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    try:
        from mlflow.tracking import MlflowClient  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise PluginError(f"--to mlflow needs MLflow ({error}); pip install mlflow") from error
    return MlflowClient(tracking_uri=f"sqlite:///{store.absolute()}")


_TABLES: Final = ("samples.json", "metrics.json")


def _export(
    client: MlflowClient,
    run: RunToExport,
    files: BenchmarkFiles,
    time: datetime,
    places: tuple[Path, Path],
) -> list[Path]:
    """Write the run of one benchmark.

    Args:
        places: Where files are written, and where they will stand.
    """
    output, final = places
    folder = Path("artifacts", files.directory.name)
    experiment = client.create_experiment(
        files.title, artifact_location=(final / folder).absolute().as_uri()
    )
    begin = int(time.timestamp() * 1000)
    elapsed = files.runtime.get("elapsed_seconds")
    end = begin + int((elapsed if isinstance(elapsed, int | float) else 0) * 1000)
    complete = bool(files.metrics.get("complete"))
    # Searched for as it is written.
    logged = ", ".join(f'{{"path": "{name}", "type": "table"}}' for name in _TABLES)
    tags = {
        "nel.run_id": run.run_id,
        "nel.notes": "\n".join(run.notes),
        "nel.complete": str(complete).lower(),
        "mlflow.loggedArtifacts": f"[{logged}]",
    }
    made = client.create_run(experiment, start_time=begin, run_name=run.run_id, tags=tags)
    for name, value in _unique(numbers_of(files)):
        client.log_metric(made.info.run_id, name, value, timestamp=end)
    for name, text in _unique(settings_of(files)):
        client.log_param(made.info.run_id, name, text[:_LONGEST])
    client.set_terminated(made.info.run_id, "FINISHED" if complete else "KILLED", end_time=end)
    return _write_files(run, files, output / folder / made.info.run_id / "artifacts")


def _write_files(run: RunToExport, files: BenchmarkFiles, target: Path) -> list[Path]:
    """Write the tables of a benchmark and copies of its artifacts."""
    target.mkdir(mode=0o700, parents=True)
    single_run = RunToExport(run_dir=run.run_dir, run_id=run.run_id, benchmarks=(files,))
    write_file(target / "samples.json", _table(SAMPLE_COLUMNS, sample_rows(single_run)))
    write_file(target / "metrics.json", _table(METRIC_COLUMNS, metric_rows(single_run)))
    written = [target / name for name in _TABLES]
    for path in files_of(files):
        shutil.copyfile(path, target / f"nel-{path.name}")
        written.append(target / f"nel-{path.name}")
    return written


def _unique(pairs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield names that MLflow takes; one that another has already gets a number."""
    used: set[str] = set()
    for name, value in pairs.items():
        plain = _NOT_IN_NAMES.sub("_", name)[:200]
        unique = plain if plain not in used else f"{plain}_{len(used) + 1}"
        used.add(unique)
        yield unique, value


def _table(columns: Mapping[str, object], rows: Iterator[Row]) -> Iterator[bytes]:
    """Yield a table as MLflow stores it, pandas' orientation ``split``, one row in memory at a
    time.
    """
    yield b'{"columns":' + dumps_bytes(list(columns)) + b',"data":['
    separator = b""
    for row in rows:
        yield separator + dumps_bytes(list(row.values()))
        separator = b","
    yield b"]}"
