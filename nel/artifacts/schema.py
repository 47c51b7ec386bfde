"""Reads the JSON Schemas of the artifacts, which ship beside this module.

Note: `jsonschema` lets NaN pass ``minimum`` and ``maximum``; the schemas' own ``number`` refuses
it, so use that definition for every number that is added.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import orjson

from nel.errors import UsageError, did_you_mean

SCHEMA_NAMES: Final = (
    "bundle", "calibration", "comparison", "decision", "extraction_audit", "failure_analysis", "leaderboard",
    "matrix_results", "metrics", "result", "runtime_stats", "standings",
)  # fmt: skip
"""The artifacts that have a schema; ``result`` is one line of results.jsonl."""


def load_schema(name: str) -> dict[str, object]:
    """Return the JSON Schema (draft 2020-12) of an artifact, a fresh copy each time.

    Args:
        name: One of `SCHEMA_NAMES`.

    Raises:
        UsageError: There is no schema of that name.
    """
    if name not in SCHEMA_NAMES:
        hint = did_you_mean(name, SCHEMA_NAMES) or f"; known: {', '.join(SCHEMA_NAMES)}"
        raise UsageError(f'no artifact schema "{name}"{hint}')
    resource = files("nel.artifacts").joinpath("schemas", f"{name}.schema.json")
    schema: dict[str, object] = orjson.loads(resource.read_bytes())
    return schema
