"""What may stand in a mapping of the configuration: known keys, and no yes where a number is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic.fields import FieldInfo

from nel.errors import did_you_mean


def check_keys(data: Mapping[Any, Any], fields: Mapping[str, FieldInfo]) -> None:
    """Refuse keys that no field has, and true and false where they would pass for 1 and 0.

    Raises:
        ValueError: One is there; the message says what to write.
    """
    for key, value in data.items():
        if key not in fields:
            hint = did_you_mean(str(key), fields) or f"; known: {', '.join(fields)}"
            raise ValueError(f'unknown key "{key}"{hint}')
        if isinstance(value, bool) and (wanted := _instead_of_bool(fields[key].annotation)):
            raise ValueError(f"{key} is {str(value).lower()}, and {wanted} is wanted")


def _instead_of_bool(annotation: Any) -> str | None:
    """Return what a field takes in place of true and false, None where it takes them or says so itself."""
    kinds = _kinds(annotation)
    if bool in kinds or Any in kinds:
        return None
    if int in kinds or float in kinds:
        return "a number"
    return "a text (in quotes, if it is yes, no, on or off)" if str in kinds else None


def _kinds(annotation: Any) -> list[Any]:
    return [annotation, *(kind for part in get_args(annotation) for kind in _kinds(part))]
