"""What came to a log since the last look, in the order of commits, one by one or counted.

A mark is the number of a row. Within a session rows are only added; a later one takes verdicts back
(`taken_back`), or begins another round of them. Second askings are in nothing here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from nel.engine.store.projections.results import StoredResult, results
from nel.engine.store.rows import Row
from nel.engine.store.snapshot import FILE_NAME, OF_ROUND, Snapshot, StoredSample
from nel.errors import StoreError
from nel.types import SECOND_ASKING


class OutcomeCount(NamedTuple):
    """How many outcomes of a benchmark are alike."""

    benchmark: int
    state: str | None
    """None for records that are damaged."""
    cause: str | None
    kind: str | None
    n: int
    reward_sum: float


_TALLY: Final = """
    SELECT benchmark, json_extract(text, '$.state') AS state, json_extract(text, '$.cause') AS cause,
        json_extract(text, '$.kind') AS kind, count(*), total(json_extract(text, '$.reward'))
    FROM (SELECT s.benchmark, CASE WHEN json_valid(s.response) THEN s.response END AS text
        FROM steps s NOT INDEXED CROSS JOIN benchmarks b ON b.id = s.benchmark WHERE s.seq > ? AND s.seq <= ? AND s.repeat < ?
        AND s.role = 1 AND s.void = 0 AND s.attempt = b.round)
    GROUP BY benchmark, state, cause, kind"""
"""SQLite alone takes a second or two for a million."""
_VERDICT: Final = ", ".join(f"o.{name}" for name in Row._fields)
_ANSWER: Final = ", ".join(f"r.{name}" for name in Row._fields)
_FOLLOW: Final = (
    f"SELECT o.seq, s.idx, s.sample_id, s.row_number, s.content, s.fault, {_VERDICT}, {_ANSWER}"
    " FROM steps o NOT INDEXED"
    " CROSS JOIN benchmarks b ON b.id = o.benchmark"
    " CROSS JOIN samples s ON s.benchmark = o.benchmark AND s.idx = o.idx"
    " LEFT JOIN steps r ON r.benchmark = o.benchmark AND r.idx = o.idx AND r.repeat = o.repeat"
    " AND r.role = 0 AND r.void = 0"
    " WHERE o.seq > ? AND o.role = 1 AND o.void = 0 AND o.attempt = b.round AND o.repeat < ?"
    " ORDER BY o.seq LIMIT ?"
)
_N_COLUMNS: Final = len(Row._fields)


def follow(log: Snapshot, after: int, n_max: int) -> list[tuple[int, int, StoredResult]]:
    """Return the next ``(mark, benchmark, result)``.

    Args:
        log: Of the run.
        after: 0, or the last mark seen.
        n_max: So many at most.
    """
    rows = log.execute(_FOLLOW, (after, SECOND_ASKING, n_max)).fetchall()
    return [_result_of(log, row) for row in rows]


def _result_of(log: Snapshot, values: Sequence[Any]) -> tuple[int, int, StoredResult]:
    # The columns of `_FOLLOW`: the mark, the sample, its verdict, and its answer or only NULLs.
    sample, verdict = StoredSample(*values[1:6]), Row._make(values[6 : 6 + _N_COLUMNS])
    answer = None if values[6 + _N_COLUMNS] is None else Row._make(values[6 + _N_COLUMNS :])
    result = StoredResult(sample, verdict.repeat, answer, verdict)
    if answer is not None and answer.requests is None:  # a sum of other rows
        idx, repeats = sample.idx, [verdict.repeat]
        (result,) = results(log, verdict.benchmark, repeats, first=idx, last=idx)
    return values[0], verdict.benchmark, result


def tally(log: Snapshot, after: int) -> tuple[int, list[OutcomeCount]]:
    """Return a mark and the outcomes committed after another, counted.

    Args:
        log: Of the run.
        after: 0, or the last mark returned.
    """
    try:
        latest_seq = log.count("SELECT ifnull(max(seq), 0) FROM steps")
        if latest_seq <= after:
            return latest_seq, []
        rows = log.execute(_TALLY, (after, latest_seq, SECOND_ASKING)).fetchall()
        return latest_seq, list(map(OutcomeCount._make, rows))
    except sqlite3.Error as error:
        raise StoreError(
            f"cannot read {FILE_NAME}: {error}; is the directory still there?"
        ) from error


def count_verdicts(log: Snapshot) -> int:
    """Return how many verdicts hold in all benchmarks."""
    where = f"role = 1 AND void = 0 AND repeat < ? AND {OF_ROUND}"
    return sum(
        log.count(
            f"SELECT count(*) FROM steps WHERE benchmark = ? AND {where}", (key, SECOND_ASKING)
        )
        for key, *_ in log.benchmarks()
    )


def taken_back(log: Snapshot) -> list[int]:
    """Return a mark of what was taken back in a run: verdicts, and rounds of scoring."""
    query = "SELECT count(*), ifnull(max(void), 0) FROM steps WHERE void > 0 AND role = 1"
    rounds = log.count("SELECT ifnull(sum(round), 0) FROM benchmarks")
    return [*log.execute(query).fetchone(), rounds]
