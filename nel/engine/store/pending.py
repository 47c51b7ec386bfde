"""What a run has still to ask and to score, by its run.db. Reads a page at a time and writes
nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from nel.core.strict_json import dumps
from nel.engine.store.snapshot import PAGE, Snapshot, StoredSample

_BLOCKS: Final = 4096
"""About so many blocks of neighbours are drawn of a large dataset: enough that a tenth of them is
like the whole, and few queries.
"""


class Pending:
    """The work that a snapshot leaves."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Read from this snapshot."""
        self._snapshot = snapshot

    def count_pending(self, benchmark: int, repeats: int) -> int:
        """Return how many good (sample, repeat) pairs of this shard have no outcome yet; a bad row
        never has one.
        """
        good = self._snapshot.count_samples(benchmark) - self._snapshot.count_bad_rows(benchmark)
        good -= self._snapshot.count_elsewhere(benchmark, usable=True)
        query = "SELECT count(*) FROM outcomes WHERE benchmark = ? AND repeat < ?"
        return good * repeats - self._snapshot.count(query, (benchmark, repeats))

    def samples(self, benchmark: int, repeats: int) -> Iterator[tuple[StoredSample, int]]:
        """Yield each good (sample, repeat) that has no response yet.

        They come in a random order of blocks, the same in each session, so that what is answered
        first is like the whole even where the file is sorted.
        """
        query = "SELECT ifnull(max(idx), -1) + 1 FROM samples WHERE benchmark = ?"
        n = self._snapshot.count(query, (benchmark,))
        size = min(max(n // _BLOCKS, 1), PAGE)
        starts = list(range(0, n, size))
        random.Random(0).shuffle(starts)  # noqa: S311 - no secret
        rest = iter(starts)
        while blocks := list(islice(rest, PAGE // size)):
            page = [idx for first in blocks for idx in range(first, min(first + size, n))]
            yield from self._pending_of(benchmark, repeats, page)

    def n_answered(self, benchmark: int, repeats: int) -> dict[int, int]:
        """Return how many of the first repeats have a response, by idx; a sample without one is
        left out.
        """
        query = (
            "SELECT idx, count(*) FROM responses WHERE benchmark = ? AND repeat < ? GROUP BY idx"
        )
        return dict(self._snapshot.execute(query, (benchmark, repeats)).fetchall())

    def samples_of(
        self, benchmark: int, idx: int, repeats: int
    ) -> Iterator[tuple[StoredSample, int]]:
        """Yield one sample with each repeat that has no response yet; nothing for a bad row."""
        yield from self._pending_of(benchmark, repeats, [idx])

    def _pending_of(
        self, benchmark: int, repeats: int, page: Sequence[int]
    ) -> Iterator[tuple[StoredSample, int]]:
        """Yield what is pending of some samples, in their order; of those that are answered or
        asked by another shard nothing is read but the index.
        """
        done = self._answered_repeats(benchmark, repeats, page)
        pending = [idx for idx in page if len(done.get(idx, ())) < repeats]
        query = (
            "SELECT idx, sample_id, row_number, content, fault FROM samples s WHERE benchmark = ?"
            " AND idx IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM elsewhere"
            " e WHERE e.benchmark = s.benchmark AND e.idx = s.idx)"
        )
        rows = self._snapshot.execute(query, (benchmark, dumps(pending))).fetchall()
        samples = {row[0]: StoredSample(*row) for row in rows}
        for idx in pending:
            if idx in samples and samples[idx].fault is None:
                known = done.get(idx, ())
                yield from (
                    (samples[idx], repeat) for repeat in range(repeats) if repeat not in known
                )

    def has_answers(self) -> bool:
        """Return whether the endpoint has answered in this run."""
        query = "SELECT 1 FROM outcomes WHERE retry < 2 LIMIT 1"
        return self._snapshot.execute(query).fetchone() is not None

    def has_answer(self, benchmark: int) -> bool:
        """Return whether an answer to a benchmark is stored, scored or not; refusals and faults are
        none.
        """
        unscored = (
            "SELECT 1 FROM responses r LEFT JOIN outcomes o USING (benchmark, idx, repeat)"
            " WHERE r.benchmark = ? AND o.retry IS NULL LIMIT 1"
        )
        queries = (
            "SELECT 1 FROM outcomes WHERE benchmark = ? AND retry < 2 LIMIT 1",
            unscored,
            "SELECT 1 FROM calls WHERE benchmark = ? LIMIT 1",
        )
        return any(
            self._snapshot.execute(query, (benchmark,)).fetchone() is not None for query in queries
        )

    def last_response(self) -> int:
        """Return a mark for `unscored_responses`, which then yields only what is stored now."""
        return self._snapshot.count("SELECT ifnull(max(rowid), 0) FROM responses")

    def has_outcomes(self, benchmark: int) -> bool:
        """Return whether any sample of a benchmark has an outcome."""
        query = "SELECT 1 FROM outcomes WHERE benchmark = ? LIMIT 1"
        return self._snapshot.execute(query, (benchmark,)).fetchone() is not None

    def usable_ids(self, benchmark: int) -> Iterator[tuple[str, int]]:
        """Yield ``(sample_id, idx)`` of each sample of a benchmark that is not a bad row."""
        query = "SELECT sample_id, idx FROM samples WHERE benchmark = ? AND fault IS NULL"
        yield from self._snapshot.execute(query, (benchmark,))

    def unscored_responses(
        self, benchmark: int, *, upto: int
    ) -> Iterator[tuple[StoredSample, int, str, str | None]]:
        """Yield each (sample, repeat, response, request) that was answered before ``upto`` and
        never scored.
        """
        last = 0
        query = (
            "SELECT r.rowid, s.idx, s.sample_id, s.row_number, s.content, s.fault, r.repeat,"
            " r.response, r.request FROM responses r JOIN samples s ON s.benchmark = r.benchmark"
            " AND s.idx = r.idx LEFT JOIN outcomes o ON o.benchmark = r.benchmark AND o.idx = r.idx"
            " AND o.repeat = r.repeat WHERE r.benchmark = ? AND r.rowid > ? AND r.rowid <= ? AND"
            " o.idx IS NULL ORDER BY r.rowid LIMIT ?"
        )
        while rows := self._snapshot.execute(query, (benchmark, last, upto, PAGE)).fetchall():
            for row in rows:
                yield StoredSample(*row[1:6]), row[6], row[7], row[8]
            last = rows[-1][0]

    def _answered_repeats(
        self, benchmark: int, repeats: int, page: Sequence[int]
    ) -> dict[int, set[int]]:
        done: dict[int, set[int]] = {}
        query = (
            "SELECT idx, repeat FROM responses WHERE benchmark = ? AND repeat < ?"
            " AND idx IN (SELECT value FROM json_each(?))"
        )
        for idx, repeat in self._snapshot.execute(query, (benchmark, repeats, dumps(page))):
            done.setdefault(idx, set()).add(repeat)
        return done
