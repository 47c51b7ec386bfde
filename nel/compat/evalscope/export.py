"""Writes a run as an output directory of EvalScope: reports (schema version 2), predictions and
reviews as JSON.

EvalScope is not needed. A category of nel is a subset there, each with files of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import asked_results, model_name, naming_file, open_run, storable
from nel.compat.evalscope.export_rows import prediction_of, review_of
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_line, pretty
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject

SCHEMA: Final = 2
ALL: Final = "default"
"""The subset of what has no category, as EvalScope calls it."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._@-]")
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")
_AMBIGUOUS: Final = ("score", "overall", "total_score")
"""Names of metrics that EvalScope refuses."""
_NUMBER: Final = {
    "value_range": None,
    "display_kind": "number",
    "display_multiplier": None,
    "display_unit": None,
}
"""How EvalScope shows a metric without bounds."""
_PERCENT: Final = {
    "value_range": {"min": 0.0, "max": 1.0},
    "display_kind": "percent",
    "display_multiplier": 100.0,
    "display_unit": "%",
}


def export_evalscope(run_dir: Path, output: Path) -> Exported:
    """EvalScope's reports, predictions and reviews, for its tables and its web page.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoppedEarly: The disk is full.
    """
    run = open_run(run_dir)
    paths: list[Path] = []
    for files in run.benchmarks:
        subsets = _subsets(files)
        model, benchmark = file_name(model_name(files)), file_name(files.title)
        for folder in ("reports", "predictions", "reviews"):
            (output / folder / model).mkdir(mode=0o700, parents=True, exist_ok=True)
        report = output / "reports" / model / f"{benchmark}.json"
        write_file(report, [pretty(storable(_report(files, subsets)))])
        paths += [report, *_write_rows(output, files, subsets)]
    notes = (
        "A result without a score has a review with the status excluded and an empty value.",
        "A result that was never asked for has no row.",
        (
            "EvalScope rounds the scores of a report to four digits when it reads them, and has no"
            " intervals."
        ),
        "EvalScope cannot resume or score these files again: they name no dataset of its own.",
    )
    return Exported(files=paths, notes=(*run.notes, *notes))


def file_name(name: str) -> str:
    """Return a name that a file can have."""
    return _UNSAFE.sub("_", name).lstrip(".") or "_"


def _subsets(files: BenchmarkFiles) -> dict[str | None, str]:
    """Return the name of a subset for each category; None is what has none."""
    names: dict[str | None, str] = {}
    for category in files.metrics.get("categories") or {}:
        name = file_name(category)
        if name in {*names.values(), ALL}:  # two categories that differ in signs alone
            name = f"{name}@{len(names) + 1}"
        names[category] = name
    return {**names, None: ALL}


def _write_rows(
    output: Path, files: BenchmarkFiles, subsets: Mapping[str | None, str]
) -> list[Path]:
    model, benchmark = model_name(files), file_name(files.title)
    repeats = int(files.bundle["benchmark"].get("repeats") or 1)
    headline = str(files.metrics["headline"]["metric"])
    opened: dict[Path, IO[bytes]] = {}
    with ExitStack() as stack:
        for result in asked_results(files):
            category = result["metadata"].get("category")
            subset = subsets.get(category if isinstance(category, str) else None, ALL)
            index = int(result["problem_idx"]) * repeats + int(result["repeat"])
            rows = {
                "predictions": prediction_of(result, model, index),
                "reviews": review_of(result, headline, index),
            }
            for folder, row in rows.items():
                path = output / folder / file_name(model) / f"{benchmark}_{subset}.jsonl"
                with naming_file(path):
                    if path not in opened:
                        opened[path] = stack.enter_context(path.open("xb"))
                    opened[path].write(dumps_line(storable(row)))
    return list(opened)


def _report(files: BenchmarkFiles, subsets: Mapping[str | None, str]) -> dict[str, Any]:
    metrics, model = files.metrics, model_name(files)
    headline = metrics["headline"]
    values = {
        str(metric["name"]): metric for metric in metrics["metrics"] if metric["value"] is not None
    }
    identities = _identities(list(values))
    report_metrics = []
    for name, metric in values.items():
        categories = subsets if name == headline["metric"] else {}  # the others have none
        report_metrics.append(_metric(files, metric, identities[name], categories))
    has_headline = headline["value"] is not None
    return {
        "schema_version": SCHEMA,
        "name": f"{model}@{files.title}",
        "dataset_name": file_name(files.title),
        "dataset_pretty_name": files.title,
        "model_name": file_name(model),
        "metrics": report_metrics,
        "primary_metric_identity": identities[str(headline["metric"])] if has_headline else None,
        "primary_metric_unavailable_reason": None if has_headline else "the run has no score",
        "execution_summary": _execution(metrics),
    }


def _identities(names: list[str]) -> dict[str, dict[str, Any]]:
    """Return an identity for each metric: EvalScope's names are lower-case words joined by
    underscores.
    """
    identities: dict[str, dict[str, Any]] = {}
    names_in_use: set[str] = set()
    for name in names:
        words = _NOT_IN_NAMES.sub("_", name.lower()).strip("_")
        if not words[:1].isalpha() or words in _AMBIGUOUS:
            words = f"metric_{words}"
        if words in names_in_use:
            words = f"{words}_{len(names_in_use) + 1}"
        names_in_use.add(words)
        identities[name] = {"name": words, "aggregation": "identity", "dimensions": {}}
    return identities


def _metric(
    files: BenchmarkFiles,
    metric: JsonObject,
    identity: JsonObject,
    subsets: Mapping[str | None, str],
) -> dict[str, Any]:
    name = str(metric["name"])
    rows = [
        {
            "name": subsets[category],
            "score": scores["value"],
            "num": scores["n_scored"] + scores["n_model_failure"],
            "metadata": {"category": category, "n_unscored": scores["n_unscored"]},
        }
        for category, scores in (files.metrics.get("categories") or {}).items()
        if category in subsets and scores.get("value") is not None
    ]
    if not rows:
        n = metric["n"]
        if not isinstance(n, int):
            accounting = files.metrics["accounting"]
            n = accounting["n_scored"] + accounting["n_model_failure"]
        rows = [{"name": ALL, "score": metric["value"], "num": n}]
    is_lower = name in files.metrics["lower_is_better"]
    return {
        "identity": identity,
        "legacy_name": name,
        "score": metric["value"],
        "categories": [{"name": [ALL], "subsets": rows}],
        "semantics": {
            "semantic_id": f"nel.{identity['name']}",
            "metric_name": name,
            "kind": "quality",
            "direction": "lower_is_better" if is_lower else "higher_is_better",
            **(_NUMBER if metric["bounds"] is None else _PERCENT),
        },
    }


def _execution(metrics: JsonObject) -> dict[str, Any]:
    accounting = metrics["accounting"]
    succeeded = accounting["n_scored"] + accounting["n_model_failure"]
    errored = accounting["n_unscored"]
    return {
        "requested": succeeded + errored,
        "succeeded": succeeded,
        "errored": errored,
        "incomplete": errored > 0 or not metrics["complete"],
        "subsets": {},
    }
