"""Runs of several endpoints for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nel.config.load import build_config
from nel.config.matrix import split_config
from nel.reports.matrix import EndpointResult, matrix_json
from tests.support.runs import sums

N = 30


def matrix_config(tmp_path: Path, urls: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return a configuration of two benchmarks of N sums each at some endpoints.

    Args:
        urls: By the names of the endpoints.
        more: Further sections.
    """
    data = tmp_path / "data.jsonl"
    if not data.exists():
        sums(data, N)
    return {
        "benchmarks": [{"name": "gsm8k", "dataset": str(data)}, {"name": "gsm8k", "dataset": str(data)}],
        "endpoints": [{"name": name, "url": url, "model": "m"} for name, url in urls.items()],
        "engine": {"concurrency": 4},
        "output": {"dir": str(tmp_path / "out"), "run_id": "matrix"},
        **more,
    }


def matrix_example() -> dict[str, Any]:
    """Return a matrix_results.json of two endpoints, one of which has no score."""
    urls = {"a": "http://127.0.0.1:1/v1", "b|c": "http://127.0.0.1:2/v1"}
    endpoints = [{"name": name, "url": url, "model": "m"} for name, url in urls.items()]
    config = build_config({"benchmarks": ["quickstart"], "endpoints": endpoints}, where="test")
    counts = {"n_total": 4, "n_scored": 4, "n_model_failure": 0, "n_unscored": 0}
    head = {
        "metric": "accuracy", "unit": "rate", "value": 0.5, "ci_lower": 0.15, "ci_upper": 0.85, "ci_method": "wilson",
        "bounds": {"lower": 0.5, "upper": 0.5},
    }  # fmt: skip
    none = {**dict.fromkeys(head), "metric": "accuracy", "unit": "rate", "ci_method": "none"}
    lost = {**counts, "n_scored": 0, "n_unscored": 4}
    found = {
        "a": (0, "done", {"headline": head, "accounting": counts, "complete": True, "selection": None}),
        "b|c": (75, "nothing answers", {"headline": none, "accounting": lost, "complete": False, "selection": None}),
    }
    return matrix_json(
        "matrix",
        [
            EndpointResult(
                name=name,
                config=part,
                directory=name,
                exit_code=found[name][0],
                ended=found[name][1],
                benchmarks={"quickstart": found[name][2]},
            )
            for name, part in split_config(config)
        ],
    )
