"""Rows of the benchmark ``pairwise``: the answers of two models, read from their runs a block of
pairs at a time.

A run may be resumed while it is read: an answer that has disappeared is an error, never an empty
text. Depends on the runs' stores through `nel.engine.store.snapshot`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby, islice
from typing import Any, Final

from nel.apps.leaderboard.entries import BoardEntry, BoardQuestion, Key
from nel.apps.leaderboard.pairing import AnswerPair
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import StoreError

_BLOCK: Final = 256
"""Pairs whose answers are in memory at the same time."""


def pair_rows(
    entries: Sequence[BoardEntry], pairs: Iterable[AnswerPair]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each pair, in order.

    Raises:
        StoreError: A run no longer has a usable run.db, or has lost an answer.
    """
    by_label = {entry.label: entry for entry in entries}
    pending = iter(pairs)
    with ExitStack() as stack:
        snapshots = {
            entry.label: stack.enter_context(Snapshot(entry.source.run_dir / FILE_NAME))
            for entry in entries
        }
        # By block, each run is read once for all its answers in it, in the order of its store.
        while block := list(islice(pending, _BLOCK)):
            keys_by_label: dict[str, set[Key]] = {}
            for pair in block:
                keys_by_label.setdefault(pair.left, set()).add(pair.key)
                keys_by_label.setdefault(pair.right, set()).add(pair.key)
            answers = {
                label: _answers(by_label[label], snapshots[label], keys)
                for label, keys in keys_by_label.items()
            }
            yield from (_row(pair, answers) for pair in block)


def _row(
    pair: AnswerPair, answers: Mapping[str, Mapping[Key, tuple[BoardQuestion, str]]]
) -> dict[str, Any]:
    question, response = answers[pair.left][pair.key]
    sample, repeat = pair.key
    return {
        "id": pair.id,
        "question_id": sample,
        "repeat": repeat,
        "question": question.text,
        "reference": question.reference,
        "model_response": pair.left,
        "model_baseline": pair.right,
        "response": response,
        "baseline": answers[pair.right][pair.key][1],
    }


def _answers(
    entry: BoardEntry, snapshot: Snapshot, keys: set[Key]
) -> dict[Key, tuple[BoardQuestion, str]]:
    answers: dict[Key, tuple[BoardQuestion, str]] = {}
    for first, last in _ranges(sorted({entry.answers[key].idx for key in keys})):
        for result, question, text, answer in entry.source.read(snapshot, first, last):
            key = result.sample_id, result.repeat
            if key in keys and question is not None and not answer.missing and not answer.failure:
                answers[key] = question, text
    absent_keys = keys - answers.keys()
    if absent_keys:
        sample, repeat = min(absent_keys)
        raise StoreError(
            f'{entry.source.run_dir} changed while it was read: the answer to sample "{sample}"'
            f" repeat {repeat} is gone; wait until no process resumes that run, then start the"
            " leaderboard again"
        )
    return answers


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each consecutive range.

    >>> list(_ranges([1, 2, 3, 7, 9, 10]))
    [(1, 3), (7, 7), (9, 10)]
    """
    # Within a range, a number less its position stays the same.
    for _, group in groupby(enumerate(numbers), key=lambda item: item[1] - item[0]):
        members = [number for _, number in group]
        yield members[0], members[-1]
