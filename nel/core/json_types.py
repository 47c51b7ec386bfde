"""Constrained types of fields of artifacts, as their JSON Schemas state them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from annotated_types import Ge, Gt, Le, Lt, MinLen

Count: TypeAlias = Annotated[int, Ge(0)]
Positive: TypeAlias = Annotated[int, Ge(1)]
Amount: TypeAlias = Annotated[float, Ge(0)]
"""Seconds, tokens per second or money."""
Rate: TypeAlias = Annotated[float, Ge(0), Le(1)]
Level: TypeAlias = Annotated[float, Gt(0), Lt(1)]
"""Of an interval, 0.95 for 95 %."""
Text: TypeAlias = Annotated[str, MinLen(1)]
