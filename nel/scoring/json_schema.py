"""JSON in free text: `extract_json` finds it, `validate_json_schema` checks it against a schema.

Depends on the standard library's decoder and on jsonschema. A response may hold several JSON texts;
the last complete one is its answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from nel.errors import ScorerError

_FENCE = re.compile(r"```[^\S\n]*(?:json[c5]?)?[^\S\n]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_TRIES_MAX = 1_000
"""Openings tried in one text; beyond, a text of brackets alone would cost quadratic time."""


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_NOTHING = object()
_DECODER = json.JSONDecoder(parse_constant=_refuse)


def extract_json(text: str) -> Any:
    """Return the last JSON object or array in a text, or None.

    A fenced ``json`` block wins over bare text. Arrays of one element stay arrays, but a number in
    brackets after an object is a footnote. Text that is nothing but JSON may also be a number, a
    string, a bool or null.

    >>> extract_json('First {"a": 1}, then finally: {"a": 2}.')
    {'a': 2}
    >>> extract_json('{"a": 1}, as the first source [1] says')
    {'a': 1}
    >>> extract_json('[{"a": 1}]')
    [{'a': 1}]
    >>> extract_json("no json here") is None
    True
    """
    document = _parse(text.strip())
    if document is not _NOTHING:
        return document
    for source in (*reversed(_FENCE.findall(text)), text):
        document = _NOTHING
        for value in _values_in(source):
            if not (isinstance(document, dict) and _is_footnote(value)):
                document = value
        if document is not _NOTHING:
            return document
    return None


def validate_json_schema(response: str, schema: dict[str, object]) -> dict[str, Any]:
    """Check a response's JSON against a JSON Schema, of any draft ``$schema`` names, else 2020-12.

    Returns:
        ``valid``, ``extracted`` (the value, or None when there is no JSON), ``score`` (1.0 or 0.0)
        and ``error``, the first thing that is wrong.

    Raises:
        ScorerError: The schema itself is not a valid schema, or refers to another document.

    >>> validate_json_schema('{"answer": 42}', {"type": "object", "required": ["answer"]})["valid"]
    True
    >>> validate_json_schema('{"n": true}', {"properties": {"n": {"type": "integer"}}})["error"]
    "n: True is not of type 'integer'"
    """
    from jsonschema.exceptions import SchemaError, best_match  # noqa: PLC0415 - slow to import
    from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    validator_class = validator_for(schema, default=Draft202012Validator)
    extracted = extract_json(response)
    try:
        validator_class.check_schema(schema)
        problem = best_match(validator_class(schema).iter_errors(extracted))
    except SchemaError as error:
        raise ScorerError(f"the JSON Schema is not valid: {error.message}") from error
    except Unresolvable as error:
        raise ScorerError(
            f"the JSON Schema refers to something that is not in it: {error}; put it under $defs"
        ) from error
    if extracted is None:
        return {
            "valid": False,
            "extracted": None,
            "score": 0.0,
            "error": "the response holds no JSON",
        }
    error_text = None
    if problem is not None:
        where = "/".join(str(step) for step in problem.absolute_path)
        error_text = f"{where}: {problem.message}" if where else problem.message
    return {
        "valid": problem is None,
        "extracted": extracted,
        "score": 1.0 if problem is None else 0.0,
        "error": error_text,
    }


def _values_in(text: str) -> Iterator[object]:
    """Yield the JSON objects and arrays of a text that are not inside another one."""
    position = 0
    for _ in range(_TRIES_MAX):
        opening = _OPENING.search(text, position)
        if opening is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, opening.start())
            yield value
        except (ValueError, RecursionError):
            position = opening.end()


def _is_footnote(value: object) -> bool:
    return isinstance(value, list) and len(value) == 1 and type(value[0]) is int


def _parse(text: str) -> object:
    """Return the value of a text that is JSON alone, else `_NOTHING`; None is the value null."""
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return _NOTHING
    return value if end == len(text) else _NOTHING
