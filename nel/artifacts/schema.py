"""Reads the JSON Schemas of the artifacts, which scripts/docs.py generates from their shapes."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import orjson

from nel.errors import UsageError, did_you_mean

_SUFFIX: Final = ".schema.json"
_DIRECTORY: Final = files("nel.artifacts").joinpath("schemas")
SCHEMA_NAMES: Final = tuple(
    sorted(
        path.name.removesuffix(_SUFFIX)
        for path in _DIRECTORY.iterdir()
        if path.name.endswith(_SUFFIX)
    )
)
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
    schema: dict[str, object] = orjson.loads(_DIRECTORY.joinpath(f"{name}{_SUFFIX}").read_bytes())
    return schema
