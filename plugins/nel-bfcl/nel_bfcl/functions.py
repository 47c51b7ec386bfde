"""BFCL's descriptions of functions as tools in the OpenAI shape, as its own handler of OpenAI's
models offers them.

Depends on `nel_bfcl.official` for the table of types. The tests compare every tool with BFCL's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from nel.types import JsonObject

_SYNTAX: Final = {
    "python": " Note that the provided function is in Python 3 syntax.",
    "java": " Note that the provided function is in Java 8 SDK syntax.",
    "javascript": " Note that the provided function is in JavaScript syntax.",
}
_LANGUAGES: Final = {"java": "Java", "javascript": "JavaScript"}
_LISTS: Final = {"java": ("ArrayList", "Array"), "javascript": ("array",)}


def plain_name(name: str) -> str:
    """Return a function's name without dots, which vendors refuse."""
    return name.replace(".", "_")


def with_hints(functions: Sequence[JsonObject], language: str) -> list[dict[str, Any]]:
    """Return descriptions that say in which language's syntax values are written; those of Java and
    JavaScript are texts.
    """
    hinted: list[dict[str, Any]] = deepcopy([dict(function) for function in functions])
    for function in hinted:
        function["description"] += _SYNTAX[language]
        if language in _LANGUAGES:
            for value in function["parameters"]["properties"].values():
                _write_as_text(value, language)
    return hinted


def _write_as_text(value: dict[str, Any], language: str) -> None:
    kind, title = value["type"], _LANGUAGES[language]
    if kind == "any":
        value["description"] += (
            f" This parameter can be of any type of {title} object in string representation."
        )
    else:
        value["description"] += f" This is {title} {kind} type parameter in string representation."
    if kind in _LISTS[language]:
        items = value.pop("items")["type"]
        value["description"] += (
            f" The list elements are of type {items}; they are not in string representation."
        )
    if language == "javascript" and kind == "dict" and "properties" in value:
        value["description"] += (
            " The dictionary entries have the following schema; they are not in string"
            f" representation. {json.dumps(value.pop('properties'))}"
        )
    value["type"] = "string"


def offered_tools(functions: Sequence[JsonObject]) -> list[JsonObject]:
    """Return descriptions as tools in the OpenAI shape."""
    from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI  # noqa: PLC0415

    tools: list[JsonObject] = []
    descriptions: list[dict[str, Any]] = deepcopy([dict(function) for function in functions])
    for description in descriptions:
        description["name"] = plain_name(description["name"])
        description["parameters"]["type"] = "object"
        _translate(description["parameters"]["properties"], GORILLA_TO_OPENAPI)
        tools.append({"type": "function", "function": description})
    return tools


def _translate(properties: dict[str, Any], types: Mapping[str, str]) -> None:
    """Replace BFCL's types by those of JSON Schema, as deep as BFCL does."""
    for value in properties.values():
        kind = value.get("type", "string")
        if kind == "float":
            value["format"] = "float"
            value["description"] += " This is a float type value."
        value["type"] = types.get(kind, "string")
        if value["type"] not in ("array", "object"):
            continue
        if "properties" in value:
            _translate(value["properties"], types)
        elif "items" in value:
            items = value["items"]
            items["type"] = types[items["type"]]
            if items["type"] == "array" and "items" in items:
                items["items"]["type"] = types[items["items"]["type"]]
            elif items["type"] == "object" and "properties" in items:
                _translate(items["properties"], types)
