"""Generates the JSON Schema of each artifact from its shape, by pydantic."""

from __future__ import annotations

import json
from types import GenericAlias
from typing import Annotated, Any, Final

from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from nel.artifacts.aggregates import AggregatesFile
from nel.artifacts.results import ResultLine
from nel.artifacts.shapes.boards import LeaderboardFile, MatrixFile
from nel.artifacts.shapes.decisions import ComparisonFile, DecisionFile, StandingsFile
from nel.artifacts.shapes.extraction import ExtractionAuditFile
from nel.artifacts.shapes.judging import CalibrationFile
from nel.artifacts.shapes.metrics import MetricsFile
from nel.artifacts.shapes.rules import GO_RESTS_ON_A_PASS, REWARD_FITS_OUTCOME
from nel.artifacts.shapes.run_files import BundleFile, FailureAnalysisFile, RuntimeStatsFile

SHAPES: Final[dict[str, Any]] = {
    "aggregates": AggregatesFile,
    "bundle": BundleFile,
    "calibration": CalibrationFile,
    "comparison": ComparisonFile,
    "decision": Annotated[DecisionFile, GO_RESTS_ON_A_PASS],
    "extraction_audit": ExtractionAuditFile,
    "failure_analysis": FailureAnalysisFile,
    "leaderboard": LeaderboardFile,
    "matrix_results": MatrixFile,
    "metrics": MetricsFile,
    "result": Annotated[ResultLine, REWARD_FITS_OUTCOME],
    "runtime_stats": RuntimeStatsFile,
    "standings": StandingsFile,
}
"""The shape of each artifact; ``result`` is one line of results.jsonl."""
_NUMBER: Final = {
    "$comment": (
        "A finite number. The anyOf holds for every number; it exists to refuse the NaN that some"
        " parsers let through."
    ),
    "type": "number",
    "minimum": -1.7976931348623157e308,
    "maximum": 1.7976931348623157e308,
    "anyOf": [{"not": {"minimum": 0}}, {"not": {"exclusiveMaximum": 0}}],
}
_JSON: Final = {
    "$comment": "Any JSON value whose numbers are finite.",
    "anyOf": [
        {"type": ["null", "boolean", "string"]},
        {"$ref": "#/$defs/number"},
        {"type": "array", "items": {"$ref": "#/$defs/json"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}},
    ],
}


class _Generator(GenerateJsonSchema):
    """Says "json" for any value, and leaves out titles that repeat a name."""

    def any_schema(self, schema: core_schema.AnySchema) -> JsonSchemaValue:
        return {"type": "json"}

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def schema_text(name: str) -> str:
    """Return the JSON Schema (draft 2020-12) of an artifact as its file has it.

    Args:
        name: A key of `SHAPES`.
    """
    # A list, since pydantic takes a configuration for what is not a TypedDict itself.
    config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    listed: Any = GenericAlias(list, SHAPES[name])
    adapter: TypeAdapter[Any] = TypeAdapter(listed, config=config)
    schema = _finite(adapter.json_schema(schema_generator=_Generator))
    root = schema["items"]
    shape = schema["$defs"].pop(root.pop("$ref").rpartition("/")[2])
    title = shape.pop("description").removesuffix(".")
    definitions = {**schema["$defs"], "number": _NUMBER, "json": _JSON}
    dialect = "https://json-schema.org/draft/2020-12/schema"
    schema = {"$schema": dialect, **shape, "title": title, **root, "$defs": definitions}
    return json.dumps(schema, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _finite(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_finite(value) for value in schema]
    if not isinstance(schema, dict):
        return " ".join(schema.split()) if isinstance(schema, str) else schema
    # A type that may be null is written as ["string", "null"], which is shorter than an anyOf.
    schema = {key: _finite(value) for key, value in schema.items() if key != "title"}
    match schema.get("anyOf"):
        case [{"type": str(kind), **others}, {"type": "null"}] if not others:
            del schema["anyOf"]
            schema["type"] = [kind, "null"]
    if schema.get("type") in ("number", "json"):
        schema["$ref"] = f"#/$defs/{schema.pop('type')}"
    return schema
