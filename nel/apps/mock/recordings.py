"""Recorded outputs: reads them from a file and finds the one that belongs to a prompt.

A recording fits a text when all its question fields occur there; the one with most matched
characters is meant. When that leaves two different outputs, neither is served: an error is better
than the answer to another question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.apps.mock.openai_json import MockReply
from nel.apps.mock.request_parsing import EndpointFault, Query
from nel.apps.mock.text_search import WindowIndex
from nel.datasets.files import source_at
from nel.datasets.formats import rows_in
from nel.errors import DatasetError, did_you_mean

_NAMED_MAX: Final = 5
"""Recordings that one message names."""
_NO_ACCIDENT: Final = 40
"""Characters; questions of MMLU-Pro that occur among the options of others have at most 29."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """Which fields of the recording file mean what."""

    path: Path
    """A ``.jsonl`` or ``.jsonl.gz`` file."""
    question_fields: tuple[str, ...]
    """All must occur in the prompt; a list of strings counts as that many fields."""
    output_field: str
    """What the model said."""
    id_field: str | None = None
    """The sample's id, compared as text with ``X-Nel-Sample-Id``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One line of the file."""

    line: int
    """Counts from 1."""
    identifier: str | None
    parts: tuple[str, ...]
    """What must occur in a prompt, longest first."""
    reply: MockReply

    @property
    def matched(self) -> int:
        """Return how many characters of a prompt this recording accounts for."""
        return sum(map(len, self.parts))

    def __str__(self) -> str:
        line = f"line {self.line}"
        return line if self.identifier is None else f"id {self.identifier} ({line})"


class Recordings:
    """All recordings of a file, indexed by what they are found by."""

    def __init__(self, recordings: Sequence[Recording], *, has_ids: bool) -> None:
        by_needle: dict[str, list[Recording]] = defaultdict(list)
        for recording in recordings:
            by_needle[recording.parts[0]].append(recording)
        self._groups = list(by_needle.values())
        self._index = WindowIndex(list(by_needle))
        self._has_ids = has_ids

    def find(self, query: Query) -> MockReply:
        """Return the one recorded reply that belongs to a query.

        Raises:
            EndpointFault: ``no_recording`` or ``ambiguous_recording``; never a guess.
        """
        fitting = self._fitting(query.text)
        if not fitting:
            raise EndpointFault(
                404, "no_recording", "no recording's question occurs in this prompt"
            )
        if self._has_ids and query.sample_id is not None:
            fitting = _with_id(fitting, query.sample_id)
        longest = max(recording.matched for recording in fitting)
        longest_matches = [recording for recording in fitting if recording.matched == longest]
        rivals = [
            recording
            for recording in fitting
            if recording.matched < longest
            and _stands_apart(recording, longest_matches[0], query.text)
        ]
        if rivals:
            raise self._ambiguous([longest_matches[0], *rivals])
        return self._reply_of(longest_matches, query.repeat)

    def _fitting(self, text: str) -> list[Recording]:
        return [
            recording
            for position in self._index.occurring_in(text)
            for recording in self._groups[position]
            if all(part in text for part in recording.parts[1:])
        ]

    def _reply_of(self, recordings: list[Recording], repeat: int | None) -> MockReply:
        """Return the reply of recordings that fit equally well: of repeats, or all the same."""
        recording, n = recordings[0], len(recordings)
        n_samples = len({(item.identifier, item.parts) for item in recordings})
        if self._has_ids and n_samples == 1 and repeat is not None and n > 1:
            if repeat >= n:
                raise EndpointFault(
                    404,
                    "no_recording",
                    f"id {recording.identifier} has {n} recordings, counted from 0; there is no"
                    f" repeat {repeat}",
                )
            return recordings[repeat].reply
        if len({item.reply for item in recordings}) > 1:
            raise self._ambiguous(recordings)
        return recording.reply

    def _ambiguous(self, rivals: list[Recording]) -> EndpointFault:
        names = ", ".join(map(str, rivals[:_NAMED_MAX]))
        if len(rivals) > _NAMED_MAX:
            names += f" and {len(rivals) - _NAMED_MAX} more"
        start = "" if self._has_ids else "start this endpoint with --id-field and "
        header = "X-Nel-Sample-Id (and X-Nel-Repeat for repeats)"
        if self._has_ids and len({rival.identifier for rival in rivals}) == 1:
            header = "X-Nel-Repeat"
        message = (
            f"different recordings fit this prompt: {names}; {start}send the header {header} to"
            " name the one"
        )
        return EndpointFault(409, "ambiguous_recording", message)


def read_recordings(options: ReplayOptions) -> Recordings:
    """Return the recordings of a file.

    Raises:
        DatasetError: The file cannot be read, is empty, or a line is unusable; the message names
            file and line.
    """
    if not options.question_fields:
        raise DatasetError("no question field is given; name one with --question-field")
    source = source_at(options.path, str(options.path))
    recordings = [_recording(options, line, fields) for line, fields in rows_in(source)]
    if not recordings:
        raise DatasetError(f"{options.path} holds no recordings")
    return Recordings(recordings, has_ids=options.id_field is not None)


def header_form(identifier: str) -> str:
    """Return an id as an HTTP header can carry it."""
    return identifier.encode("ascii", "backslashreplace").decode().strip()


def _with_id(fitting: list[Recording], sample_id: str) -> list[Recording]:
    sample_id = sample_id.strip()
    matches = [item for item in fitting if header_form(item.identifier or "") == sample_id]
    if not matches:
        names = ", ".join(map(str, fitting[:_NAMED_MAX]))
        message = (
            f"no recording of id {sample_id} occurs in this prompt; what does occur there: {names}"
        )
        raise EndpointFault(404, "no_recording", message)
    return matches


def _stands_apart(short: Recording, long: Recording, text: str) -> bool:
    """Return whether a shorter match also occurs outside the longer one, and not by accident."""
    if short.matched < _NO_ACCIDENT:
        return False
    needle = short.parts[0]
    for question in long.parts:
        if needle in question:
            text = text.replace(question, "\0")
    return needle in text


def _recording(options: ReplayOptions, line: int, fields: Mapping[str, object] | str) -> Recording:
    where = f"{options.path}:{line}"
    if isinstance(fields, str):
        raise DatasetError(f"{where}: {fields}")
    names = [*options.question_fields, options.output_field]
    if options.id_field:
        names.append(options.id_field)
    for name in names:
        if name not in fields:
            hint = did_you_mean(name, fields, or_all="; it has ")
            raise DatasetError(f'{where}: no field "{name}"{hint}')
    texts = [text for name in options.question_fields for text in _texts(fields, name, where)]
    if not texts:
        raise DatasetError(
            f"{where}: {', '.join(options.question_fields)} has no text to find it by"
        )
    identifier = None if options.id_field is None else fields[options.id_field]
    if options.id_field is not None and type(identifier) not in (str, int):
        raise DatasetError(f'{where}: "{options.id_field}" is neither text nor a whole number')
    return Recording(
        line=line,
        identifier=None if identifier is None else str(identifier),
        parts=tuple(sorted(texts, key=len, reverse=True)),
        reply=MockReply(text=_text(fields, options.output_field, where)),
    )


def _texts(fields: Mapping[str, object], name: str, where: str) -> list[str]:
    value = fields[name]
    values = value if isinstance(value, list) else [value]
    texts = [item.strip() for item in values if isinstance(item, str)]
    if len(texts) < len(values):
        raise DatasetError(f'{where}: "{name}" is neither text nor a list of texts')
    return [text for text in texts if text]


def _text(fields: Mapping[str, object], name: str, where: str) -> str:
    value = fields[name]
    if not isinstance(value, str):
        raise DatasetError(f'{where}: "{name}" is a {type(value).__name__}, not text')
    return value
