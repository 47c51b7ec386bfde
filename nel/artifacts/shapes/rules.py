"""Rules between the fields of a shape, in terms of JSON Schema."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from nel.types import JsonObject

_NULL: Final = {"type": "null"}
_TEXT: Final = {"type": "string", "minLength": 1}
_UNDECIDED: Final = {"verdict": {"const": "inconclusive"}, "reason": _TEXT}
_EXIT_CODES: Final = {"GO": 0, "NO-GO": 4, "INCONCLUSIVE": 5}
_COUNTING_PASS: Final = {"status": {"const": "pass"}, "tier": {"enum": ["critical", "supporting"]}}
_ADVISORY: Final = {"tier": {"const": "advisory"}}
_NOT_SCORED: Final = {"state": {"enum": ["unscored", "not_asked"]}}
_FAILED: Final = {"state": {"const": "model_failure"}}


def _fields(rules: JsonObject) -> dict[str, Any]:
    return {"properties": dict(rules)}


def _rule(condition: JsonObject, then: JsonObject) -> dict[str, Any]:
    return {"if": _fields(condition), "then": _fields(then)}


NULL_HAS_REASON: Any = Field(json_schema_extra=_rule({"value": _NULL}, {"reason": _TEXT}))
HAS_HEADLINE: Any = Field(json_schema_extra={"required": ["mean_reward"]})
NULL_IS_INCONCLUSIVE: Any = Field(json_schema_extra=_rule({"difference": _NULL}, _UNDECIDED))
REWARD_FITS_OUTCOME: Any = Field(
    json_schema_extra={
        "allOf": [
            {
                **_rule(
                    {"outcome": _fields(_NOT_SCORED)}, {"reward": _NULL, "extracted_answer": _NULL}
                ),
                "else": _fields({"reward": {"type": "number"}, "prompt": {"not": _NULL}}),
            },
            _rule({"outcome": _fields(_FAILED)}, {"reward": {"const": 0}}),
        ]
    }
)
NUMBERS_OF_METRICS: Any = Field(
    json_schema_extra=_fields(
        {"metrics": {"type": "object", "additionalProperties": {"type": "number"}}}
    )
)
GO_RESTS_ON_A_PASS: Any = Field(
    json_schema_extra={
        "oneOf": [
            _fields({"decision": {"const": decision}, "exit_code": {"const": code}})
            for decision, code in _EXIT_CODES.items()
        ],
        **_rule(
            {"decision": {"const": "GO"}},
            {
                "benchmarks": {
                    "contains": _fields(_COUNTING_PASS),
                    "items": {
                        "anyOf": [_fields(_ADVISORY), _fields({"status": {"const": "pass"}})]
                    },
                }
            },
        ),
    }
)
