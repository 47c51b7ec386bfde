"""What a benchmark is: where its rows come from, how a row is asked, and how an answer is scored.

Decorated functions, adapter classes and plugin packages all end in a `Benchmark`. It does no I/O of its own and never
sees the endpoint. Trap: `sample` must depend on the row alone; whatever else it reads is not in the run's identity.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nel.datasets.fields import lookup, map_fields
from nel.errors import DatasetError, PromptError
from nel.prompts import Template
from nel.types import Message, Protocol, Row, Sample, Scorer

LETTERS = string.ascii_uppercase


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark, ready to be run against any endpoint."""

    name: str
    """``[a-z0-9][a-z0-9_-]*``."""
    description: str
    """One line, shown by ``nel list``."""
    dataset: str | Callable[[], Iterable[Row]]
    """A path, a URI (``hf://``, ``pkg://``) or a callable that returns rows."""
    prompt: Template
    scorer: Scorer
    target_field: str = "target"
    """Field of the gold answer; dotted names reach into nested rows."""
    system_prompt: Template | None = None
    id_field: str | None = None
    """Field of the row's own id; without one, ids are content hashes."""
    choices: tuple[str, ...] = ()
    """The options of every problem, where they are the same for all."""
    loglikelihood: bool = False
    """Rank the choices by log-likelihood at a completions endpoint instead of asking for an answer."""
    target_delimiter: str = ""
    """Stands between the prompt and a choice whose log-likelihood is asked for."""
    choices_field: str | None = None
    """Field with the list of options; the prompt can name ``{choices}`` and ``{letters}``."""
    category_field: str | None = None
    """Field that breakdowns use."""
    group_field: str | None = None
    """Field that clusters questions, e.g. a passage id."""
    field_mapping: Mapping[str, str] = field(default_factory=dict)
    """Columns to rename, source to destination."""
    prepare_row: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Pure function from a mapped row to the row that prompt and scorer see."""
    response_field: str | None = None
    """Score the answers in this field; no endpoint is called."""
    turns_field: str | None = None
    """Field with a list of user messages, asked one after the other; the prompt renders each as ``{turn}``."""
    protocol: Protocol | None = None
    """None: whatever the endpoint speaks."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Handed to the scorer as ``config``."""
    languages: tuple[str, ...] = ()
    """Of the programs that its scorer runs in the sandbox, which is checked before the first request."""
    reducers: tuple[str, ...] = ()
    """What to make of repeats beside their mean, where the run names nothing else: ``pass_at_k`` …"""
    requirements: tuple[str, ...] = ()
    """What its scorer needs of pip, such as ``rouge-score>=0.1.2``; a compiled package depends on it."""
    base_dir: Path | None = None
    """What relative dataset and template paths are relative to."""

    def prepared(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return a raw row with its fields mapped and prepared.

        Raises:
            DatasetError: A mapped column is missing, or `prepare_row` failed.
        """
        row = map_fields(raw, self.field_mapping) if self.field_mapping else dict(raw)
        if self.prepare_row is None:
            return row
        try:
            prepared = self.prepare_row(row)
        except KeyError as error:
            raise DatasetError(f"the row has no field {error}; it has: {', '.join(sorted(row))}") from error
        except Exception as error:
            raise DatasetError(f"the row cannot be prepared: {type(error).__name__}: {error}") from error
        if not isinstance(prepared, dict):
            raise DatasetError(f"prepare_row returned a {type(prepared).__name__}; it must return the row, a dict")
        return prepared

    def sample(self, raw: Mapping[str, Any], *, sample_id: str) -> Sample:
        """Return the sample a raw row describes.

        Raises:
            DatasetError: The target, the choices or the recorded response is missing.
            PromptError: The prompt names a field the row does not have.
        """
        row = self.prepared(raw)
        choices = self._choices(row)
        values = row if choices is None else {**row, **_choice_fields(choices)}
        recorded = None
        if self.response_field is not None:
            recorded = _recorded(row, self.response_field)
        turns = self._turns(row)
        if turns:
            values = {**values, "turn": turns[0]}
        return Sample(
            id=sample_id,
            input=self._input(values, optional=self.response_field is not None),
            turns=tuple(self.prompt.render({**values, "turn": turn}) for turn in turns[1:]),
            target=self._target(row),
            choices=choices,
            metadata=row,
            subset=_label(row, self.category_field),
            group=_label(row, self.group_field),
            recorded_response=recorded,
        )

    def _input(self, values: Mapping[str, Any], *, optional: bool) -> str | tuple[Message, ...]:
        try:
            prompt = self.prompt.render(values)
            if self.system_prompt is None:
                return prompt
            system = self.system_prompt.render(values)
        except PromptError:
            if optional:
                return ""
            raise
        return (Message(role="system", content=system), Message(role="user", content=prompt))

    def _turns(self, row: Mapping[str, Any]) -> list[str]:
        if self.turns_field is None:
            return []
        turns = lookup(row, self.turns_field)
        if not isinstance(turns, (list, tuple)) or not turns or not all(isinstance(turn, str) for turn in turns):
            raise DatasetError(f'the turns field "{self.turns_field}" must be a list of texts, one for each turn')
        return list(turns)

    def _target(self, row: Mapping[str, Any]) -> Any:
        target = lookup(row, self.target_field)
        if target is None:
            raise DatasetError(f'the target field "{self.target_field}" is null')
        return target

    def _choices(self, row: Mapping[str, Any]) -> tuple[str, ...] | None:
        if self.choices:
            return self.choices
        if self.choices_field is None:
            return None
        choices = lookup(row, self.choices_field)
        if not isinstance(choices, (list, tuple)) or not choices or len(choices) > len(LETTERS):
            raise DatasetError(
                f'the choices field "{self.choices_field}" must be a list of 1 to {len(LETTERS)} options'
            )
        return tuple(str(choice) for choice in choices)


def _choice_fields(choices: tuple[str, ...]) -> dict[str, str]:
    lettered = zip(LETTERS, choices, strict=False)
    return {
        "choices": "\n".join(f"{letter}) {choice}" for letter, choice in lettered),
        "letters": ", ".join(LETTERS[: len(choices)]),
    }


def _recorded(row: Mapping[str, Any], response_field: str) -> str:
    recorded = lookup(row, response_field)
    if not isinstance(recorded, str):
        kind = "null" if recorded is None else f"a {type(recorded).__name__}"
        raise DatasetError(f'the response field "{response_field}" must be text, it is {kind}')
    return recorded


def _label(row: Mapping[str, Any], name: str | None) -> str | None:
    value = None if name is None else lookup(row, name, default=None)
    return None if value is None else str(value)
