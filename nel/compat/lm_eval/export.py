"""Writes a run in the form of lm-evaluation-harness: results_TIME.json and samples_TASK_TIME.jsonl.

The keys are those that lm-eval writes with ``--log_samples``. What has no score is null under the
metric, which lm-eval itself never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import RunToExport, asked_results, open_run, run_start
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps, dumps_line, dumps_unless_text, pretty
from nel.errors import UsageError
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject
from nel.version import __version__

METRIC: Final = "reward"
"""The metric of each sample; what the benchmark's headline is called stands in the results."""
_FILTER: Final = "none"
_TABLES: Final = (
    "results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples",
)  # fmt: skip
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._@-]")


def export_lm_eval(run_dir: Path, output: Path) -> Exported:
    """Files of lm-eval: results and samples, for dashboards that read those and for nel compare.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        UsageError: A benchmark asked each question several times, for which a sample file has no
            place.
        StoreError: The run.db is missing or damaged.
        StoppedEarly: The disk is full.
    """
    run = open_run(run_dir)
    for files in run.benchmarks:
        if files.bundle["benchmark"].get("repeats", 1) != 1:
            raise UsageError(
                f"{files.title} asked each question several times, and a sample file of lm-eval has"
                " one score for each question; export it with --to parquet"
            )
    time = run_start(run_dir)
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S.%f")
    paths = [output / f"samples_{_task(files)}_{stamp}.jsonl" for files in run.benchmarks]
    for path, files in zip(paths, run.benchmarks, strict=True):
        write_file(path, _samples(files))
    summary = output / f"results_{stamp}.json"
    write_file(summary, [pretty(_results(run, time))])
    return Exported(files=(summary, *paths), notes=(*run.notes, *_notes()))


def _notes() -> Iterator[str]:
    yield (
        f'A result without a score has null as its "{METRIC}"; one that was never asked for has no'
        " line."
    )
    yield (
        "Tokens, latency, finish reasons, reasoning and the cause of an unscored result have no"
        " place in these files."
    )


def _task(files: BenchmarkFiles) -> str:
    return _UNSAFE.sub("_", files.title)


def _samples(files: BenchmarkFiles) -> Iterator[bytes]:
    generation = {
        name: value
        for name, value in (files.bundle["config"].get("generation") or {}).items()
        if value is not None
    }
    return (dumps_line(_sample(result, generation)) for result in asked_results(files))


def _sample(result: JsonObject, generation: JsonObject) -> dict[str, Any]:
    prompt, target = result["prompt"], result["expected_answer"]
    doc = {**result["metadata"], "sample_id": result["sample_id"]}
    context = dumps_unless_text(prompt)
    target_text = "" if target is None else dumps_unless_text(target)
    return {
        "doc_id": result["problem_idx"],
        "doc": doc,
        "target": target_text,
        "arguments": {"gen_args_0": {"arg_0": context, "arg_1": dict(generation)}},
        "resps": [[result["model_response"]]],
        "filtered_resps": [result["extracted_answer"]],
        "filter": _FILTER,
        "metrics": [METRIC],
        "doc_hash": _digest(dumps(doc)),
        "prompt_hash": _digest(context),
        "target_hash": _digest(target_text),
        METRIC: result["reward"],
    }


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def _results(run: RunToExport, time: datetime) -> dict[str, Any]:
    # Each of these has an entry for each task.
    tables: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
    for files in run.benchmarks:
        task, scorer = _task(files), files.bundle["config"].get("scorer") or {}
        tables["results"][task] = _scores(task, files)
        tables["group_subtasks"][task] = []
        tables["configs"][task] = _config(task, files)
        tables["versions"][task] = scorer.get("sha256")
        tables["n-shot"][task] = _n_shot(files)
        tables["higher_is_better"][task] = _direction(files)
        tables["n-samples"][task] = _counts(files)
    config = run.benchmarks[0].bundle["config"]
    return {
        **tables,
        "config": {
            "model": "nel",
            "model_args": {"model": config.get("model"), "base_url": config.get("base_url")},
        },
        "date": time.timestamp(),
        "model_source": "nel",
        "model_name": config.get("model"),
        "model_name_sanitized": _UNSAFE.sub("_", str(config.get("model"))),
        "nel": {"run_id": run.run_id, "version": __version__, "notes": [*run.notes, *_notes()]},
    }


def _scores(task: str, files: BenchmarkFiles) -> dict[str, Any]:
    """Return the scores of a task; a metric without a value has no key, since the field's readers
    take numbers.
    """
    metrics = files.metrics
    values = {
        f"{metric['name'].replace(',', ';')},{_FILTER}": metric["value"]
        for metric in metrics["metrics"]
        if metric["value"] is not None
    }
    return {
        "alias": task,
        "name": task,
        "sample_len": _counts(files)["effective"],
        **values,
        "nel": metrics["accounting"],
    }


def _counts(files: BenchmarkFiles) -> dict[str, int]:
    accounting = files.metrics["accounting"]
    total = accounting["n_total"]
    return {"original": total, "effective": total - accounting["n_not_asked"]}


def _config(task: str, files: BenchmarkFiles) -> dict[str, Any]:
    config = files.bundle["config"]
    return {
        "task": task,
        "dataset_path": (config.get("dataset") or {}).get("uri"),
        "output_type": "generate_until",
        "repeats": 1,
        "num_fewshot": _n_shot(files),
        "generation_kwargs": config.get("generation") or {},
        "metric_list": [{"metric": METRIC, "higher_is_better": _direction(files)[METRIC]}],
    }


def _direction(files: BenchmarkFiles) -> dict[str, bool]:
    metrics = files.metrics
    return {METRIC: metrics["headline"]["metric"] not in metrics["lower_is_better"]}


def _n_shot(files: BenchmarkFiles) -> int:
    fewshot = files.bundle["config"].get("fewshot")
    return int(fewshot.get("n") or 0) if isinstance(fewshot, dict) else 0
