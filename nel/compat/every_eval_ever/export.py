"""Writes the scores and samples of a run as records of the shared schema Every Eval Ever 0.3.0."""

from __future__ import annotations

import re
from datetime import datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import (
    RunToExport,
    model_name,
    notes_of,
    open_run,
    run_start,
    storable,
)
from nel.compat.every_eval_ever.export_samples import CORRECT_FROM, sample_lines
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps, pretty
from nel.errors import UsageError
from nel.metrics.accumulator import COUNTS
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject
from nel.version import __version__

SCHEMA: Final = "0.3.0"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._@-]")


def export_every_eval_ever(run_dir: Path, output: Path) -> Exported:
    """Every Eval Ever 0.3.0: for each benchmark a record of its scores and of its scored results.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        UsageError: No benchmark has a score, which the schema requires.
        StoreError: The run.db is missing or damaged.
        StoppedEarly: The disk is full.
    """
    run, time = open_run(run_dir), run_start(run_dir)
    paths: list[Path] = []
    for files in run.benchmarks:
        record = _record(run, files, time)
        if record["evaluation_results"]:
            path = output / _record_path(run, files)
            path.parent.mkdir(parents=True, exist_ok=True)
            detail, samples = _write_samples(path, output, files, record)
            write_file(path, [pretty(storable({**record, **detail}))])
            paths += [path, *samples]
    if not paths:
        raise UsageError(
            f"{run_dir} has no score, and a record of Every Eval Ever needs one; export it with"
            " --to parquet"
        )
    notes = (
        (
            "A metric without a score is left out, since the schema requires a number; counts stand"
            " under details."
        ),
        (
            "The relationship to the model is written as other, its deployment and availability as"
            " unknown."
        ),
        "A result without a score has no line in the samples, since the schema requires a number.",
        (
            "A model whose name has no developer (DEVELOPER/MODEL) is filed under unknown, of which"
            " the validator warns."
        ),
        f"A result is called correct from a score of {CORRECT_FROM:g} on.",
    )
    return Exported(files=paths, notes=(*run.notes, *notes))


def _write_samples(
    path: Path, output: Path, files: BenchmarkFiles, record: JsonObject
) -> tuple[dict[str, Any], list[Path]]:
    """Write the scored samples, if any, beside a record; return what the record says of them."""
    accounting = files.metrics["accounting"]
    rows = accounting["n_scored"] + accounting["n_model_failure"]
    if not rows:
        return {}, []
    samples = path.with_name(f"{path.stem}_samples.jsonl")
    headline = str((files.metrics.get("headline") or {}).get("metric"))
    write_file(samples, sample_lines(files, record, headline))
    with samples.open("rb") as file:
        checksum = file_digest(file, "sha256").hexdigest()
    detail = {
        "format": "jsonl",
        "file_path": samples.relative_to(output).as_posix(),
        "hash_algorithm": "sha256",
        "checksum": checksum,
        "total_rows": rows,
    }
    return {"detailed_evaluation_results": detail}, [samples]


def _record_path(run: RunToExport, files: BenchmarkFiles) -> Path:
    """Return ``data/BENCHMARK/DEVELOPER/MODEL/UUID.json``, as the validator wants it."""
    developer, _, model = model_name(files).rpartition("/")
    names = (files.title, developer or "unknown", model)
    parts = [_UNSAFE.sub("_", name).strip(".") or "_" for name in names]
    # The same run has the same id each time it is exported.
    identifier = UUID(bytes=sha256(f"{run.run_id}/{files.title}".encode()).digest()[:16], version=4)
    return Path("data", *parts, f"{identifier}.json")


def _record(run: RunToExport, files: BenchmarkFiles, time: datetime) -> dict[str, Any]:
    stamp = str(time.timestamp())
    model = model_name(files)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{files.title}/{model}/{stamp}",
        "evaluation_timestamp": stamp,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "nel",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {"run_id": run.run_id, "notes": "\n".join(notes_of(files))},
        },
        "eval_library": {"name": "nel", "version": __version__},
        "model_info": {
            "name": model,
            "id": model,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            _result(files, metric)
            for metric in files.metrics["metrics"]
            if metric["value"] is not None
        ],
    }


def _result(files: BenchmarkFiles, metric: JsonObject) -> dict[str, Any]:
    accounting = files.metrics["accounting"]
    counts = {name: str(accounting.get(name) or 0) for name in COUNTS}
    score: dict[str, Any] = {"score": metric["value"]}
    score["details"] = {**counts, "complete": dumps(files.metrics["complete"])}
    if metric["ci_lower"] is not None and metric["ci_upper"] is not None:
        interval = {
            "lower": metric["ci_lower"],
            "upper": metric["ci_upper"],
            "method": str(metric["ci_method"]),
        }
        interval["confidence_level"] = metric["ci_level"]
        score["uncertainty"] = {"confidence_interval": interval, "num_samples": metric["n"]}
    is_bounded = metric["bounds"] is not None
    dataset = files.bundle["config"].get("dataset") or {}
    details = {name: str(value) for name, value in dataset.items() if value is not None}
    name = str(metric["name"])
    return {
        "evaluation_result_id": name,
        "evaluation_name": files.title,
        "source_data": {
            "dataset_name": files.title,
            "source_type": "other",
            "additional_details": details,
        },
        "metric_config": {
            "metric_name": name,
            "lower_is_better": name in files.metrics["lower_is_better"],
            "score_type": "continuous",
            "min_score": 0.0 if is_bounded else "-Infinity",
            "max_score": 1.0 if is_bounded else "Infinity",
        },
        "score_details": score,
    }
