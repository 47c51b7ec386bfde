"""Serves the pytest plugin: the ids of a benchmark's samples, and a run of it.

A module of its own, since pytest loads `nel.apps.pytest_plugin` in every session: this one is
imported when a test asks for a sample.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.files import directory_name
from nel.config.load import build_config
from nel.engine.planning.plan_samples import Digests, stream_samples
from nel.engine.planning.resolution import make_plans
from nel.errors import NelError, UsageError
from nel.runs.evaluation import evaluate

_UNUSED_ENDPOINT = {"url": "http://127.0.0.1:9/v1", "model": "none"}


def sample_ids(spec: str) -> list[str]:
    """Return the ids of the samples, in the order of the dataset; nothing is sent.

    Args:
        spec: An entry of ``benchmarks`` as JSON.
    """
    row_numbers: dict[str, int] = {}
    config = _config(spec, _UNUSED_ENDPOINT, "unused")
    try:
        plans = make_plans(build_config(config, where="pytest.mark.nel"))
        if len(plans) > 1:
            raise UsageError("pytest.mark.nel takes one benchmark with one prompt")
        for sample in stream_samples(plans[0], Digests(), row_numbers.get):
            row_numbers[sample.sample_id] = sample.row_number
    except NelError as error:
        raise pytest.Collector.CollectError(f"nel: {error}") from error
    return list(row_numbers)


def run_benchmark(spec: str, endpoint: Mapping[str, str], output: Path) -> dict[str, str]:
    """Run a benchmark; return the path of its ``results``, or the ``error`` that prevented them."""
    try:
        result = evaluate(_config(spec, endpoint, str(output)))
    except NelError as error:
        return {"error": str(error)}
    if result.ending.exit_code:
        return {"error": f"the run ended early: {result.ending.reason}"}
    directory = result.run_dir / directory_name(result.benchmarks[0].slot)
    return {"results": str(directory / "results.jsonl")}


def _config(spec: str, endpoint: Mapping[str, str], output: str) -> dict[str, Any]:
    return {"endpoint": dict(endpoint), "benchmarks": [json.loads(spec)], "output": {"dir": output}}
