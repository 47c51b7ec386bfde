"""What one episode may take: the least of what benchmark, sample and run allow. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from nel.errors import ConfigError, DatasetError, did_you_mean
from nel.types import value_class

DEFAULTS: Final[Mapping[str, float]] = {
    "steps": 100, "tool_seconds": 180, "tool_bytes": 16_384, "equal_calls": 20, "restarts": 2,
}  # fmt: skip
"""Of the limits that always hold; the others hold where something sets them."""


@value_class(kw_only=True)
class Limits:
    """The limits of an episode; None: no limit."""

    steps: int | None = None
    """Answers of the model."""
    tokens: int | None = None
    """Prompts and answers of all steps together; passed by one request at most."""
    cost: float | None = None
    """In the currency of ``budget.prices``; passed by one request at most."""
    work_seconds: float | None = None
    """Time of the model's answers and of tools, without waits for rate limits and outages."""
    wall_seconds: float | None = None
    """Time from the attempt's start, waits included; time between two sessions is left out."""
    tool_seconds: float | None = None
    """Of one call of a tool."""
    tool_bytes: int | None = None
    """Of one output that the model is shown; head and tail of a longer one."""
    equal_calls: int | None = None
    """So many calls that are equal and have equal results end the episode as stuck."""
    restarts: int | None = None
    """Of the episode in one session, after a fault of its environment."""

    def as_json(self) -> dict[str, float]:
        """Return the limits that are set."""
        values = {name: getattr(self, name) for name in LIMIT_NAMES}
        return {name: value for name, value in values.items() if value is not None}


LIMIT_NAMES: Final = tuple(item.name for item in fields(Limits))


def read_limits(values: object, source: str) -> Limits:
    """Return the limits of a mapping.

    Raises:
        ConfigError: A name is unknown, or a value is not a number above 0.
    """
    if not isinstance(values, Mapping):
        raise ConfigError(f"{source}: limits are a mapping such as {{steps: 20}}, not {values!r}")
    for name, value in values.items():
        if name not in LIMIT_NAMES:
            hint = did_you_mean(str(name), LIMIT_NAMES, or_all="; there are: ")
            raise ConfigError(f'{source}: "{name}" is not a limit{hint}')
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or value < 0 or (value == 0 and name != "restarts"):
            raise ConfigError(f"{source}: the limit {name} is a number above 0, not {value!r}")
    return Limits(**values)


def limits_of_row(values: object, source: str) -> Limits:
    """Return the limits of a dataset's row.

    Raises:
        DatasetError: They cannot be read.
    """
    try:
        return Limits() if values is None else read_limits(values, source)
    except ConfigError as error:
        raise DatasetError(str(error)) from error


def least(*limits: Limits) -> Limits:
    """Return the least of each limit that any of them sets."""
    values = {}
    for name in LIMIT_NAMES:
        bounds = [bound for item in limits if (bound := getattr(item, name)) is not None]
        values[name] = min(bounds) if bounds else None
    return Limits(**values)


def with_defaults(limits: Limits) -> Limits:
    """Return limits with the default of each that is not set and always holds."""
    return Limits(**{**DEFAULTS, **limits.as_json()})  # type: ignore[arg-type] # whole numbers are ints there
