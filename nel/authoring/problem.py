"""One problem of a benchmark, read from a prepared row: its choices with their labels, its turns,
and what a template may name of it. Does no I/O.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from nel.core.json_values import is_whole
from nel.core.texts import one_spelling
from nel.datasets.fields import lookup
from nel.datasets.ids import own_id
from nel.errors import DatasetError
from nel.reading.letters import labels_for
from nel.scoring.gold_choices import gold_label, gold_ways, own_labels
from nel.types import GoldKind, value_class

LETTERS: Final = string.ascii_uppercase


@value_class(kw_only=True)
class Problem:
    """A prepared row, read by the fields that its benchmark names."""

    row: dict[str, object]
    choices: tuple[str, ...] | None
    own_labels: tuple[str, ...] | None
    """The row's own labels of its choices; None where they are letters."""
    turns: tuple[str, ...]
    values: dict[str, object]
    """What a template may name."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of the choices."""
        return self.own_labels or labels_for(len(self.choices or ()))

    def gold_position(self, target: object, kind: GoldKind | None) -> int:
        """Return the position of the gold choice, which a target names as `gold_label` reads it."""
        return self.labels.index(gold_label(target, self.labels, self.choices, kind=kind))

    def is_position(self, target: object) -> bool:
        """Return whether a target is a number that names its choice by position."""
        return "index" in gold_ways(target, self.labels, self.choices)


def read_problem(
    row: dict[str, object],
    *,
    choices: tuple[str, ...],
    choices_field: str | None,
    turns_field: str | None,
) -> Problem:
    """Return the problem of a row.

    Args:
        row: Prepared.
        choices: The options of every problem; empty where a field has them.
        choices_field: The field with the options.
        turns_field: The field with the user's messages.

    Raises:
        DatasetError: The choices or the turns are missing, or are not a list of texts.
    """
    options: tuple[str, ...] | None = choices or None
    labels = None
    if not choices and choices_field is not None:
        options = _choices_in(row, choices_field)
        labels = _own_labels(row, choices_field, len(options))
    values = row
    if options is not None:
        values = {**values, **_choice_fields(options, labels or labels_for(len(options)))}
    turns: tuple[str, ...] = ()
    if turns_field is not None:
        turns = _turns_in(row, turns_field)
        values = {**values, "turn": turns[0]}
    return Problem(row=row, choices=options, own_labels=labels, turns=turns, values=values)


def prepared_by(
    prepare: Callable[[dict[str, Any]], dict[str, Any]], row: dict[str, object]
) -> dict[str, object]:
    """Return a row as a benchmark's own function prepares it.

    Raises:
        DatasetError: The function failed, or returned no row.
    """
    try:
        prepared = prepare(row)
    except KeyError as error:
        raise DatasetError(
            f"the row has no field {error}; it has: {', '.join(sorted(row))}"
        ) from error
    except (Exception, SystemExit) as error:
        raise DatasetError(
            f"the row cannot be prepared: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(prepared, dict):
        raise DatasetError(
            f"prepare_row returned a {type(prepared).__name__}; it must return the row, a dict"
        )
    return prepared


def label_of(row: Mapping[str, object], name: str | None) -> str | None:
    """Return the value of a field as a label; None where there is no field, or nothing in it."""
    value = None if name is None else lookup(row, name, default=None)
    return None if value is None else one_spelling(str(value))


def limits_in(row: Mapping[str, object], field_name: str) -> Mapping[str, Any] | None:
    """Return the limits of a row; None where it has none.

    Raises:
        DatasetError: They are not a mapping.
    """
    limits = row.get(field_name)
    if limits is not None and not isinstance(limits, Mapping):
        raise DatasetError(
            f'the field "{field_name}" must be a mapping of limits such as {{"steps": 20}}, not'
            f" {limits!r}"
        )
    return limits


def recorded_answer(row: Mapping[str, object], field_name: str) -> str | None:
    """Return the answer that a row brings; None where its field holds no text.

    Raises:
        DatasetError: The row has no such field.
    """
    recorded = lookup(row, field_name)
    return recorded if isinstance(recorded, str) else None


def row_id(record: Mapping[str, object], id_field: str | None) -> str | None:
    """Return a row's own id; None where it has none."""
    value = record.get(id_field or "id")
    if isinstance(value, str) or is_whole(value):
        return own_id(value)
    return None


def _choices_in(row: Mapping[str, object], name: str) -> tuple[str, ...]:
    choices = lookup(row, name)
    if not isinstance(choices, (list, tuple)) or not choices or len(choices) > len(LETTERS):
        raise DatasetError(
            f'the choices field "{name}" must be a list of 1 to {len(LETTERS)} options'
            f"{_choices_hint(choices, name)}"
        )
    return tuple(str(choice) for choice in choices)


def _choices_hint(value: object, name: str) -> str:
    """Return what to do about choices that are an object, as ARC has them, or a text."""
    if isinstance(value, str):
        return _text_hint(name)
    if not isinstance(value, Mapping):
        return ""
    lists = [key for key, inner in value.items() if inner and isinstance(inner, list)]
    if not lists:
        return ""
    inner_name = "text" if "text" in lists else lists[0]
    return f'; it is an object: write choices_field="{name}.{inner_name}"'


def _text_hint(name: str) -> str:
    return f'; it is a text: write list_fields=["{name}"], or give the rows as JSONL or parquet'


def _turns_in(row: Mapping[str, object], name: str) -> tuple[str, ...]:
    turns = lookup(row, name)
    if isinstance(turns, (list, tuple)) and turns and all(isinstance(turn, str) for turn in turns):
        return tuple(turns)
    hint = _text_hint(name) if isinstance(turns, str) else ""
    raise DatasetError(f'the turns field "{name}" must be a list of texts, one for each turn{hint}')


def _own_labels(
    row: Mapping[str, object], choices_field: str, n_choices: int
) -> tuple[str, ...] | None:
    """Return a row's own labels of its choices, where there is a field ``label`` beside theirs."""
    # ARC has `choices: {text: […], label: […]}`; other rows have both lists side by side.
    parent, _, _ = choices_field.rpartition(".")
    name = f"{parent}.label" if parent else "label"
    labels = own_labels(lookup(row, name, default=None), n_choices)
    return None if labels == labels_for(n_choices) else labels


def _choice_fields(choices: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    pairs = zip(labels, choices, strict=True)
    return {
        "choices": "\n".join(f"{label}) {choice}" for label, choice in pairs),
        "letters": ", ".join(labels),
    }
