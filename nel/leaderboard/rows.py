"""Rows of the benchmark ``pairwise``: what two models answered, read from their runs a block of pairs at a time.

Trap: a run may be resumed while it is read; an answer that was there and is gone ends this loudly, it is never empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, Final

from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import StoreError
from nel.leaderboard.entries import Entry, Key, Question
from nel.leaderboard.pairing import Meeting

_BLOCK: Final = 256
"""Pairs whose answers are in memory at once."""


def pair_rows(entries: Sequence[Entry], meetings: Iterable[Meeting]) -> Iterator[dict[str, Any]]:
    """Yield a row for each meeting, in their order.

    Raises:
        StoreError: A run has no usable run.db any more, or lost an answer.
    """
    by_label = {entry.label: entry for entry in entries}
    pending = iter(meetings)
    with ExitStack() as stack:
        snapshots = {entry.label: stack.enter_context(Snapshot(entry.source.run_dir / FILE_NAME)) for entry in entries}
        while block := list(islice(pending, _BLOCK)):
            wanted: dict[str, set[Key]] = {}
            for meeting in block:
                wanted.setdefault(meeting.left, set()).add(meeting.key)
                wanted.setdefault(meeting.right, set()).add(meeting.key)
            said = {label: _said(by_label[label], snapshots[label], keys) for label, keys in wanted.items()}
            yield from (_row(meeting, said) for meeting in block)


def _row(meeting: Meeting, said: Mapping[str, Mapping[Key, tuple[Question, str]]]) -> dict[str, Any]:
    question, response = said[meeting.left][meeting.key]
    sample, repeat = meeting.key
    return {
        "id": meeting.id,
        "question_id": sample,
        "repeat": repeat,
        "question": question.text,
        "reference": question.reference,
        "model_response": meeting.left,
        "model_baseline": meeting.right,
        "response": response,
        "baseline": said[meeting.right][meeting.key][1],
    }


def _said(entry: Entry, snapshot: Snapshot, keys: set[Key]) -> dict[Key, tuple[Question, str]]:
    """Return what one model was asked and answered under these keys."""
    found: dict[Key, tuple[Question, str]] = {}
    for first, last in _ranges(sorted({entry.answers[key].idx for key in keys})):
        for result, question, text, answer in entry.source.read(snapshot, first, last):
            key = result.sample_id, result.repeat
            if key in keys and question is not None and not answer.missing and not answer.failure:
                found[key] = question, text
    lost = keys - found.keys()
    if lost:
        sample, repeat = min(lost)
        raise StoreError(
            f'{entry.source.run_dir} changed while it was read: the answer to sample "{sample}" repeat {repeat} is '
            "gone; wait until nothing resumes that run, then try again"
        )
    return found


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of numbers in a row.

    >>> list(_ranges([1, 2, 3, 7, 9, 10]))
    [(1, 3), (7, 7), (9, 10)]
    """
    start = before = None
    for number in numbers:
        if start is None or before is None:
            start = number
        elif number != before + 1:
            yield start, before
            start = number
        before = number
    if start is not None and before is not None:
        yield start, before
