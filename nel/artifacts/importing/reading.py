"""Reads JSON of other tools; what is wrong is said with the file, the line and the next step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from nel.core.strict_json import dumps, loads
from nel.errors import OutputError
from nel.types import JsonObject, Message

_PEEK_BYTES: Final = 65_536
_KINDS: Final = {str: "text", int: "whole number", dict: "object", list: "list"}
_ROLES: Final = ("system", "user", "assistant", "tool")


def read_object(data: bytes, where: str) -> dict[str, Any]:
    """Return a JSON object; NaN and infinities, which other tools write, are read as null.

    Raises:
        OutputError: It is not a JSON object.
    """
    try:
        value = loads(data)
    except ValueError:
        value = _lenient(data, where)
    if not isinstance(value, dict):
        raise OutputError(f"{where} is not a JSON object; give an undamaged copy")
    return value


def read_lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the objects of a JSON Lines file with their place, one in memory at a time.

    Raises:
        OutputError: A line is not a JSON object, or the file cannot be read.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    where = f"{path}, line {number}"
                    yield read_object(line, where), where
    except OSError as error:
        raise OutputError(
            f"cannot read {path}: {error.strerror or error}; import a file that you can read"
        ) from error


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file.

    Raises:
        OutputError: It cannot be read, or is not a JSON object.
    """
    return read_object(read_file(path), str(path))


def begins_with(path: Path, *keys: str) -> bool:
    """Return whether a file is JSON by its name and has keys among its first bytes."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(_PEEK_BYTES)
    return all(f'"{key}"'.encode() in start for key in keys)


def read_file(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        OutputError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise OutputError(
            f"cannot read {path}: {error.strerror or error}; import a file that you can read"
        ) from error


def required_field(
    value: JsonObject, name: str, kind: type, where: str
) -> Any:  # of the kind that was asked for
    """Return a field that must be there.

    Raises:
        OutputError: It is missing or of another type.
    """
    field = value.get(name)
    if not isinstance(field, kind) or (kind is int and isinstance(field, bool)):
        raise OutputError(
            f'{where}: "{name}" is missing or no {_KINDS[kind]}; give an undamaged copy'
        )
    return field


def number(value: object) -> float | None:
    """Return a finite number, None for anything else, such as an integer too large for a float."""
    try:
        parsed_number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return parsed_number if math.isfinite(parsed_number) else None


def numbers_of(values: Iterable[tuple[object, object]]) -> dict[str, float]:
    """Return the finite numbers among values, by their names."""
    numbers = {str(name): number(value) for name, value in values}
    return {name: value for name, value in numbers.items() if value is not None}


def whole(value: object) -> int | None:
    """Return a whole number of at least 0, None for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value >= 0 else None


def text(value: object) -> str | None:
    """Return a text, of another value its JSON, of None None."""
    return value if value is None or isinstance(value, str) else dumps(value)


def seconds_of(value: object) -> float | None:
    """Return an ISO date or seconds since 1970 as the latter, None for anything else."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            return None
    return number(value)


def messages_of(value: object) -> tuple[Message, ...] | None:
    """Return the messages of a conversation in the shape of OpenAI's, None for anything else."""
    if not isinstance(value, list) or not value:
        return None
    messages = []
    for message in value:
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            return None
        content = message.get("content")
        if isinstance(content, list):
            content = tuple(element for element in content if isinstance(element, dict))
        else:
            content = text(content) or ""
        messages.append(Message(role=message["role"], content=content))
    return tuple(messages)


def _lenient(data: bytes, where: str) -> object:
    import json  # noqa: PLC0415 - only for files that strict JSON refuses

    # `parse_constant` is called for NaN, Infinity and -Infinity alone.
    try:
        return json.loads(data, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{where} is not JSON ({error}); give an undamaged copy") from error
