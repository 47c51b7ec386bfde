"""What each planned sample came to: its answer and its verdict, as far as the log has them.

Read a page at a time, and of a row what its role has beside the columns that are empty or the same
in all of them: each column costs a quarter of a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from nel.engine.store.rows import ANSWER, KEEP, VERDICT, Row
from nel.engine.store.snapshot import IDX_MAX, OF_ROUND, Snapshot, StoredSample
from nel.engine.store.sums import PART_COLUMNS, Part

_RANGE: Final = "benchmark = ? AND idx BETWEEN ? AND ?"
_ANSWERS: Final = (
    "SELECT idx, repeat, fault, requests, prompt, completion, reasoning, cached, seconds, ended,"
    f" crc, request, response FROM steps WHERE {_RANGE} AND role = 0 AND void = 0"
)
_VERDICTS: Final = (
    "SELECT idx, repeat, attempt, session, again, crc, response FROM steps"
    f" WHERE {_RANGE} AND role = 1 AND void = 0 AND {OF_ROUND}"
)
_PARTS: Final = (
    f"SELECT idx, repeat, {PART_COLUMNS} FROM steps"
    f" WHERE {_RANGE} AND (role > 1 OR void > 0) AND void = 0"
    " AND (role BETWEEN 3 AND 5 OR role BETWEEN 8 AND 9) ORDER BY idx, repeat, seq"
)
_ELSEWHERE: Final = f"SELECT idx FROM samples WHERE {_RANGE} AND elsewhere > 0"
_OF_ANSWER: Final = (ANSWER, 0, 0, 0, 0, KEEP, None, None)
_NO_COUNTS: Final = (None,) * 11
_Rows = dict[tuple[int, int], Row]


class StoredResult(NamedTuple):
    """One (sample, repeat) with its answer and its verdict, as far as the run has them."""

    sample: StoredSample
    repeat: int
    response: Row | None
    outcome: Row | None
    is_elsewhere: bool = False
    """Another shard of the run asks it."""
    parts: Sequence[Part] = ()
    """The rows that its answer sums up, or those of an episode without an answer."""


def results(
    log: Snapshot,
    benchmark: int,
    repeats: int | Sequence[int],
    *,
    first: int = 0,
    last: int = IDX_MAX,
) -> Iterator[StoredResult]:
    """Yield every (sample, repeat) in order, with its answer and verdict where there is one.

    Args:
        log: Of the run.
        benchmark: Its number.
        repeats: So many, or these.
        first, last: The idx of the first and of the last sample.
    """
    numbers = range(repeats) if isinstance(repeats, int) else repeats
    for samples in log.sample_pages(benchmark, first, last):
        where = benchmark, samples[0].idx, samples[-1].idx
        answers, verdicts = _answers(log, *where), _verdicts(log, *where)
        parts = _parts(log, *where)
        others = {idx for (idx,) in log.execute(_ELSEWHERE, where).fetchall()}
        for sample in samples:
            for repeat in numbers:
                key = sample.idx, repeat
                yield StoredResult(
                    sample,
                    repeat,
                    answers.get(key),
                    verdicts.get(key),
                    sample.idx in others,
                    parts.get(key, ()),
                )


def _answers(log: Snapshot, *where: int) -> _Rows:
    benchmark = where[0]
    # In the order of `Row`: idx and repeat; fault to seconds; `wall`; ended to response.
    return {
        row[:2]: Row._make((benchmark, *row[:2], *_OF_ANSWER, *row[2:9], None, *row[9:]))
        for row in log.execute(_ANSWERS, where).fetchall()
    }


def _verdicts(log: Snapshot, *where: int) -> _Rows:
    benchmark = where[0]
    return {
        (idx, repeat): Row._make(
            (
                benchmark,
                idx,
                repeat,
                VERDICT,
                attempt,
                0,
                session,
                0,
                again,
                *_NO_COUNTS,
                crc,
                None,
                text,
            )
        )
        for idx, repeat, attempt, session, again, crc, text in log.execute(
            _VERDICTS, where
        ).fetchall()
    }


def _parts(log: Snapshot, *where: int) -> dict[tuple[int, int], list[Part]]:
    parts: dict[tuple[int, int], list[Part]] = {}
    for idx, repeat, *numbers in log.execute(_PARTS, where).fetchall():
        parts.setdefault((idx, repeat), []).append(Part._make(numbers))
    return parts
