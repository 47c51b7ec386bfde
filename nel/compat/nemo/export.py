"""Writes a run as NeMo Evaluator publishes results: ``eval-*.json`` and results.jsonl.

NeMo Evaluator takes a missing reward for 0 and stops at null, so results.jsonl holds what has a
reward, and unscored.jsonl beside it, in the same form, what has none.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import RunToExport, notes_of, open_run, run_start
from nel.artifacts.source_numbers import NUMBERS_ARE_IDS, POSITION
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_line, pretty
from nel.reports.agreement import state_of
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject
from nel.version import __version__

RESULTS: Final = "results.jsonl"
UNSCORED: Final = "unscored.jsonl"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_KEPT: Final = (
    "sample_id",
    "outcome",
    "group",
    "reasoning",
    "finish_reason",
    "served_model",
    "tokens",
    "timing",
)
_SETTINGS: Final = (
    "temperature",
    "top_p",
    "max_tokens",
    "seed",
    "stop",
    "frequency_penalty",
    "presence_penalty",
)


def export_nemo(run_dir: Path, output: Path) -> Exported:
    """Result folders of NeMo Evaluator: for each benchmark a bundle and results.jsonl.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoreError: The run.db is missing or damaged.
        StoppedEarly: The disk is full.
    """
    run, time = open_run(run_dir), run_start(run_dir)
    paths: list[Path] = []
    for files in run.benchmarks:
        folder = output / _UNSAFE.sub("_", files.directory.name)
        folder.mkdir(mode=0o700)
        bundle = _bundle(run, files, time)
        paths += [folder / f"{bundle['run_id']}.json", folder / RESULTS]
        write_file(paths[-2], [pretty(bundle)])
        write_file(paths[-1], _lines(files, {"scored", "model_failure"}))
        if files.metrics["accounting"].get("n_unscored"):
            paths.append(folder / UNSCORED)
            write_file(paths[-1], _lines(files, {"unscored"}))
    return Exported(files=paths, notes=(*run.notes, *_notes()))


def _notes() -> Iterator[str]:
    yield (
        f"NeMo Evaluator requires a reward in each line of {RESULTS}; what has none stands in"
        f" {UNSCORED}, which its compare does not read: it pairs what both sides scored, and does"
        " not say how much that leaves out."
    )
    yield "A result that was never asked for has no line."


def _bundle(run: RunToExport, files: BenchmarkFiles, time: datetime) -> dict[str, Any]:
    accounting, benchmark = files.metrics["accounting"], files.bundle["benchmark"]
    config = files.bundle["config"]
    generation = {
        name: value for name, value in (config.get("generation") or {}).items() if name in _SETTINGS
    }
    scorer = (config.get("scorer") or {}).get("name")
    reasons = {cause: counts["n"] for cause, counts in (accounting.get("unscored") or {}).items()}
    scores = {
        name: score for name, score in benchmark["scores"].items() if score.get("value") is not None
    }
    counts = {
        "unscored_count": {"value": accounting["n_unscored"]},
        "unscored_reasons": reasons,
    }
    return {
        "run_id": f"eval-{time.strftime('%Y%m%dT%H%M%SZ')}-{_UNSAFE.sub('_', files.title)}",
        "config_hash": files.bundle.get("identity"),
        "sdk_version": f"nel {__version__}",
        "timestamp": time.isoformat(),
        "config": {**config, **generation, "scorers": [scorer] if scorer else []},
        "benchmark": {**benchmark, "name": files.title, "scores": {**scores, **counts}},
        "n_results": accounting["n_scored"] + accounting["n_model_failure"],
        "complete": files.metrics["complete"],
        "nel": {
            "run_id": run.run_id,
            "accounting": accounting,
            "notes": [*notes_of(files), *_notes()],
        },
    }


def _lines(files: BenchmarkFiles, states: Container[str]) -> Iterator[bytes]:
    fields = files.bundle.get("identity_fields") or {}
    are_ids = fields.get("imported.format") == "nemo" and bool(fields.get(NUMBERS_ARE_IDS))
    for result in files.results():
        if state_of(result) in states:
            yield dumps_line(_line(result, _position(result, are_ids=are_ids)))


def _position(result: JsonObject, *, are_ids: bool) -> int:
    """Return a result's problem_idx: that of NeMo Evaluator where the result came from there."""
    # Where ids were made of the numbers when the run was imported, they are the numbers still.
    sample_id, source_position = str(result["sample_id"]), result["metadata"].get(POSITION)
    if are_ids and sample_id.isascii() and sample_id.isdigit():
        return int(sample_id)
    return source_position if isinstance(source_position, int) else int(result["problem_idx"])


def _line(result: JsonObject, position: int) -> dict[str, Any]:
    details = dict(result["scoring_details"])
    metrics = details.pop("metrics", None) or {}
    latency = result["timing"]["latency_seconds"]
    if latency is not None:
        latency *= 1000
    return {
        "problem_idx": position,
        "repeat": result["repeat"],
        "reward": result["reward"],
        "scorer_rewards": metrics,
        "prompt": result["prompt"],
        "model_response": result["model_response"],
        "extracted_answer": result["extracted_answer"],
        "expected_answer": result["expected_answer"],
        "scoring_details": details,
        "metadata": {name: value for name, value in result["metadata"].items() if name != POSITION},
        "tokens": result["tokens"].get("completion"),
        "latency_ms": latency,
        "nel": {name: result.get(name) for name in _KEPT},
    }
