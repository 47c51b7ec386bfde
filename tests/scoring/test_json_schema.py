"""JSON is found in free text and checked against the whole of JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest

from nel.errors import ScorerError
from nel.scoring.json_schema import extract_json, validate_json_schema


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure:\n```json\n{"a": 1}\n```\nDone {"b": 2}', {"a": 1}),
        ("```\n[1, 2]\n```", [1, 2]),
        ('{"a": 1} and {"a": 2}', {"a": 2}),
        ('{"tag": "<think>a</think>"}', {"tag": "<think>a</think>"}),
        ("42", 42),
        ("the answer is 42", None),
        ('{"a": NaN}', None),
        ('{"a": 1', None),
        ('{"a": "}"} tail', {"a": "}"}),
    ],
)
def test_extract_json(text: str, value: Any) -> None:
    """Fences win, the last complete value counts."""
    assert extract_json(text) == value


@pytest.mark.parametrize(
    ("response", "schema", "valid"),
    [
        ('{"answer": "42"}', {"type": "object", "required": ["answer"]}, True),
        ('{"n": true}', {"properties": {"n": {"type": "integer"}}}, False),
        ('{"a": 5}', {"properties": {"a": {"maximum": 4}}}, False),
        ('{"a": 1}', {"properties": {"a": {"type": ["integer", "null"]}}}, True),
        ('{"a": -1}', {"$defs": {"n": {"minimum": 0}}, "properties": {"a": {"$ref": "#/$defs/n"}}}, False),
        ("no json", {}, False),
    ],
)
def test_full_json_schema(response: str, schema: dict[str, Any], valid: bool) -> None:
    """Booleans are not integers; additionalProperties, maximum, pattern, anyOf and $ref count."""
    result = validate_json_schema(response, schema)
    assert (result["valid"], result["score"]) == (valid, float(valid))
    assert (result["error"] is None) == valid


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"$ref": "https://example.org/other.json"}])
def test_a_broken_schema_is_the_scorers_fault(schema: dict[str, Any]) -> None:
    """A schema that is none, or that lives elsewhere, is an error of the scorer and fetches nothing."""
    with pytest.raises(ScorerError, match="JSON Schema"):
        validate_json_schema('{"a": 1}', schema)
