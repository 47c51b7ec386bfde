"""Documents of a run against the JSON Schemas that are published for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from nel.artifacts.schema import load_schema
from tests.support.runs import read_json, read_results


def check_schema(document: Any, schema: str) -> None:
    """Fail where a document does not fit a schema."""
    Draft202012Validator(load_schema(schema)).validate(document)


def check_schemas(run_dir: Path, benchmark: str) -> None:
    """Fail where an artifact of a benchmark, or a line of its results, does not fit its schema."""
    check_schema(read_json(run_dir / benchmark / f"eval-{benchmark}.json"), "bundle")
    for name in ("metrics", "failure_analysis", "runtime_stats"):
        check_schema(read_json(run_dir / benchmark / f"{name}.json"), name)
    result = Draft202012Validator(load_schema("result"))
    for row in read_results(run_dir, benchmark):
        result.validate(row)
