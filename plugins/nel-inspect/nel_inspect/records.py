"""A task's samples as the task made them, and the JSON records by which nel's rows, store and
scorers name them.

Solvers and scorers compare enumerations, unpack tuples and call methods of what a sample keeps in
its metadata, and JSON gives back other objects. Only the record therefore travels, and each process
looks up the sample in the dataset that it has read itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from nel.core.strict_json import dumps_bytes
from nel_inspect.watching import Refusal


class Samples:
    """The samples of a task's dataset, found again by their records."""

    def __init__(self, dataset: Any) -> None:
        """Take a Dataset of Inspect."""
        self.dataset = dataset

    def of(self, record: Mapping[str, Any]) -> Any:
        """Return the sample that a record was made of; of equal ones the first.

        Raises:
            Refused: The dataset of this process has none.
        """
        position = self._positions.get(_digest(record))
        if position is None:
            raise Refusal(
                "has no such sample where it is loaded again: its data have changed, or are"
                " shuffled without a seed"
            )
        return self.dataset[position]

    @cached_property
    def _positions(self) -> dict[bytes, int]:
        positions: dict[bytes, int] = {}
        for position in range(len(self.dataset)):
            try:
                record = record_of(self.dataset[position])
            except Refusal:  # its row is refused by name, so no answer to it is scored
                continue
            positions.setdefault(_digest(record), position)
        return positions


def record_of(sample: Any) -> dict[str, Any]:
    """Return a Sample of Inspect as JSON has it: sets in order, and no random ids of messages.

    Raises:
        Refused: Its metadata hold an object that JSON has no form for.
    """
    fields: dict[str, Any] = sample.model_dump(exclude_none=True, exclude={"metadata"})
    for key, value in (sample.model_dump(include={"metadata"})["metadata"] or {}).items():
        try:
            fields.setdefault("metadata", {}).update(as_json({key: value}))
        except ValueError as error:
            kind = type(sample.metadata[key]).__name__
            raise Refusal(
                f"keeps a {kind} in metadata.{key} of a sample, which its record cannot hold as"
                f" JSON: {error}"
            ) from error
    if isinstance(fields["input"], list):
        fields["input"] = [
            {key: value for key, value in turn.items() if key != "id"} for turn in fields["input"]
        ]
    return as_json(fields)


def as_json(
    value: Mapping[str, Any], fallback: Callable[[Any], Any] | None = None
) -> dict[str, Any]:
    """Return a mapping as JSON has it, its sets in order.

    Args:
        value: What a task put into a sample or a score.
        fallback: Makes something of an object that JSON has no form for.

    Raises:
        ValueError: There is such an object, and no fallback.
    """
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - comes with Inspect

    record: dict[str, Any] = to_jsonable_python(_sort_sets(dict(value)), fallback=fallback)
    return record


def _sort_sets(value: Any) -> Any:
    """Return a value with its sets as sorted lists, since their own order differs between
    processes.
    """
    if isinstance(value, dict):
        return {key: _sort_sets(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_sort_sets(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(
            (_sort_sets(item) for item in value),
            key=lambda item: dumps_bytes(as_json({"": item}, repr)),
        )
    return value


def _digest(record: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(dumps_bytes(record)).digest()
