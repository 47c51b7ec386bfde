"""Writes a run as Inspect logs (format version 2), an ``.eval`` file for each benchmark.

The file is a zip that Inspect View and ``inspect_ai.log.read_eval_log`` open. Samples are written
one by one.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.conversations import RunConversations
from nel.artifacts.exporting.run import (
    RunToExport,
    model_name,
    naming_file,
    open_run,
    run_start,
    scorer_name,
    storable,
)
from nel.compat.inspect.export_samples import inspect_samples, summary_of
from nel.core.strict_json import dumps_bytes
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject
from nel.version import DISTRIBUTION, __version__

FORMAT_VERSION: Final = 2
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.@-]")
_SETTINGS: Final = (
    "temperature",
    "top_p",
    "max_tokens",
    "seed",
    "frequency_penalty",
    "presence_penalty",
)
_METRIC_DETAILS: Final = (
    "ci_level",
    "ci_lower",
    "ci_upper",
    "ci_method",
    "bounds",
    "n",
    "n_questions",
)


def export_inspect(run_dir: Path, output: Path) -> Exported:
    """Inspect logs: one .eval file for each benchmark, for Inspect View and inspect_ai's reader.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoreError: The run.db is missing or damaged.
        StoppedEarly: The disk is full.
    """
    run, time = open_run(run_dir), run_start(run_dir)
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S+00-00")
    paths = []
    with RunConversations(run) as conversations:
        for index, files in enumerate(run.benchmarks):
            name = f"{stamp}_{_UNSAFE.sub('-', files.title)}_{_UNSAFE.sub('-', run.run_id)}"
            path = output / f"{name}-{index}.eval"
            with naming_file(path):
                _write(path, run, files, time, partial(inspect_samples, files, conversations, time))
            paths.append(path)
    notes = (
        (
            "A result without a score is a sample with an error and without scores; one never asked"
            " for is left out."
        ),
        (
            "A failure of the model is a sample with the score 0, and its explanation says what"
            " failed."
        ),
        "A run that did not end has the status cancelled.",
        (
            "Times of an episode's steps are counted from the start of the run: when the episode"
            " began is not recorded."
        ),
    )
    return Exported(files=paths, notes=(*run.notes, *notes))


def _write(
    path: Path,
    run: RunToExport,
    files: BenchmarkFiles,
    time: datetime,
    samples: Callable[[], Iterator[dict[str, Any]]],
) -> None:
    # In the order of Inspect's own: the header is last, so a cut file is not a complete log.
    start = {"version": FORMAT_VERSION, "eval": _spec(run, files, time), "plan": _plan(files)}
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED, compresslevel=6) as log:
        log.writestr("_journal/start.json", dumps_bytes(storable(start)))
        # Read twice, so that no more than one sample is in memory.
        for sample in samples():
            log.writestr(
                f"samples/{sample['id']}_epoch_{sample['epoch']}.json", dumps_bytes(sample)
            )
        with log.open("summaries.json", "w", force_zip64=True) as member:
            for chunk in _summaries(samples()):
                member.write(chunk)
        log.writestr("header.json", dumps_bytes(storable({**start, **_outcome(files, time)})))


def _summaries(samples: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    separator = b"["
    for sample in samples:
        yield separator + dumps_bytes(summary_of(sample))
        separator = b","
    yield b"]" if separator == b"," else b"[]"


def _spec(run: RunToExport, files: BenchmarkFiles, time: datetime) -> dict[str, Any]:
    config, metrics = files.bundle["config"], files.metrics
    dataset = config.get("dataset") or {}
    return {
        "eval_id": f"{run.run_id}/{files.title}",
        "run_id": run.run_id,
        "created": time.isoformat(timespec="seconds"),
        "task": files.title,
        "task_id": files.title,
        "dataset": {
            "name": files.title,
            "location": dataset.get("uri"),
            "samples": files.bundle["benchmark"]["samples"],
        },
        "model": model_name(files),
        "model_base_url": config.get("base_url"),
        "model_args": {},
        "config": {"epochs": files.bundle["benchmark"].get("repeats", 1), "fail_on_error": False},
        "packages": {DISTRIBUTION: __version__},
        "scorers": [{"name": scorer_name(files)}],
        "metadata": {
            "nel": {
                "config": config,
                "identity": files.bundle.get("identity"),
                "identity_fields": files.bundle.get("identity_fields"),
                "accounting": metrics["accounting"],
                "headline": metrics["headline"],
                "complete": metrics["complete"],
            }
        },
    }


def _plan(files: BenchmarkFiles) -> dict[str, Any]:
    generation = files.bundle["config"].get("generation") or {}
    config = {
        name: generation[name]
        for name in _SETTINGS
        if isinstance(generation.get(name), int | float)
    }
    solver = (files.bundle.get("identity_fields") or {}).get("solver") or {}
    step = {"solver": solver.get("name", "generate"), "params": solver.get("options") or {}}
    return {"name": "nel", "steps": [step], "config": config}


def _outcome(files: BenchmarkFiles, time: datetime) -> dict[str, Any]:
    metrics = files.metrics
    accounting = metrics["accounting"]
    n_scored = accounting["n_scored"] + accounting["n_model_failure"]
    values = {
        str(metric["name"]): _metric(metric)
        for metric in metrics["metrics"]
        if metric["value"] is not None
    }
    scorer = scorer_name(files)
    score = {
        "name": scorer,
        "scorer": scorer,
        "scored_samples": n_scored,
        "unscored_samples": accounting["n_unscored"],
        "metrics": values,
    }
    elapsed = files.runtime.get("elapsed_seconds")
    ended = time + timedelta(seconds=elapsed if isinstance(elapsed, int | float) else 0)
    return {
        "status": "success" if metrics["complete"] else "cancelled",
        "results": {
            "total_samples": accounting["n_total"],
            "completed_samples": n_scored,
            "scores": [score],
        },
        "stats": {
            "started_at": time.isoformat(timespec="seconds"),
            "completed_at": ended.isoformat(timespec="seconds"),
            "model_usage": {model_name(files): _usage(files.runtime.get("tokens") or {})},
        },
    }


def _metric(metric: JsonObject) -> dict[str, Any]:
    details = {name: metric[name] for name in _METRIC_DETAILS if metric.get(name) is not None}
    return {"name": str(metric["name"]), "value": metric["value"], "metadata": details}


def _usage(tokens: JsonObject) -> dict[str, int]:
    prompt, completion = tokens["prompt"] or 0, tokens["completion"] or 0
    return {
        "input_tokens": prompt,
        "output_tokens": completion,
        "total_tokens": prompt + completion,
    }
