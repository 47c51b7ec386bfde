"""The base of all models of the configuration: refuses unknown keys, marks fields with flags.

Depends on pydantic and the error texts alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from nel.errors import did_you_mean

KEY_ERRORS = ("unknown_key", "not_a_boolean")
"""Types of the errors below, whose context names the key; pydantic's location ends above it."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Marks a field that a flag of the command line sets; stands in the field's annotation.

    The flag takes values of the field's own type, is repeatable where the field is a list, and has
    no default: what is not given leaves the configuration as it is.
    """

    name: str
    """With its dashes: ``--max-tokens``."""
    help: str
    """One line of ``--help``."""
    short: str | None = None
    """A second spelling: ``-n``."""
    item_key: str | None = None
    """For a list of models: the key that the flag gives each item, one value for each."""
    one_benchmark: bool = False
    """Whether its value can be right for one benchmark only, such as the path of its data."""
    has_variable: bool = False
    """Whether a variable of the environment sets the field too, since a user sets it once."""

    @property
    def variable(self) -> str:
        """Return the name of that variable: ``NEL_MODEL_URL`` of ``--model-url``."""
        return "NEL_" + self.name.removeprefix("--").replace("-", "_").upper()


def _refuse_blank(value: object) -> object:
    # A variable of the shell that is not set leaves an empty text.
    if isinstance(value, str) and not value.strip():
        raise ValueError("nothing is named; give a value, or leave it out")
    return value


NAMED: Final = BeforeValidator(_refuse_blank)
"""Marks a field that names something, so that an empty text is no way to leave it out."""


class Strict(BaseModel):
    """A model that refuses unknown keys with a suggestion, and booleans where it wants numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, data: object) -> object:
        if isinstance(data, dict):
            _check_keys(data, cls.model_fields)
        return data


def entries_by_name(entries: Sequence[object]) -> list[object]:
    """Return the entries of a list in which a text stands for an entry of that name.

    >>> entries_by_name(["gsm8k", {"name": "mmlu", "repeats": 2}])
    [{'name': 'gsm8k'}, {'name': 'mmlu', 'repeats': 2}]
    """
    return [{"name": entry} if isinstance(entry, str) else entry for entry in entries]


def _check_keys(data: Mapping[object, object], fields: Mapping[str, FieldInfo]) -> None:
    """Refuse keys that no field has, and true and false where they would pass for 1 and 0.

    Raises:
        PydanticCustomError: One is there; the message says what to write, the context holds the
            key.
    """
    for key, value in data.items():
        if key not in fields:
            hint = did_you_mean(str(key), fields, or_all="; known: ")
            raise PydanticCustomError(
                "unknown_key", 'unknown key "{key}"{hint}', {"key": str(key), "hint": hint}
            )
        kind = _instead_of_bool(fields[str(key)].annotation) if isinstance(value, bool) else None
        if kind:
            context = {"key": str(key), "value": str(value).lower(), "kind": kind}
            raise PydanticCustomError(
                "not_a_boolean", "{key} is {value}, and {kind} is wanted", context
            )


def _instead_of_bool(annotation: object) -> str | None:
    """Return what a field takes in place of true and false; None where it can take them."""
    kinds = kinds_of(annotation)
    # To pydantic true is the number 1 as well, and to YAML 1.1 an unquoted yes is true.
    if bool in kinds or Any in kinds:
        return None
    if int in kinds or float in kinds:
        return "a number"
    return "a text (in quotes, if it is yes, no, on or off)" if str in kinds else None


def kinds_of(annotation: object) -> list[object]:
    """Return a type and all types inside it, such as those of a union or a list."""
    kinds = [annotation]
    for argument in get_args(annotation):
        kinds += kinds_of(argument)
    return kinds
