"""What a run has still to ask and score, by its run.db, read a page at a time.

Writes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from nel.core.strict_json import dumps
from nel.engine.store.rows import Row
from nel.engine.store.snapshot import IDX_MAX, OF_ROUND, PAGE, Snapshot, StoredSample

_BLOCKS: Final = 4096
"""About so many blocks of neighbours are drawn of a large dataset: enough that a tenth of them is
like the whole, and few queries.
"""


class Pending:
    """The work that a snapshot leaves."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def count_pending(self, benchmark: int, repeats: int) -> int:
        """Return how many good (sample, repeat) pairs of this shard have no outcome yet."""
        good = self._snapshot.count_planned(benchmark) - self._snapshot.count_bad_rows(benchmark)
        query = (
            "SELECT count(*) FROM steps WHERE benchmark = ? AND role = 1 AND void = 0"
            f" AND repeat < ? AND {OF_ROUND}"
        )
        return good * repeats - self._snapshot.count(query, (benchmark, repeats))

    def is_left(self, benchmark: int, repeats: int) -> bool:
        """Return whether a resume asks, scores or takes back anything of a benchmark."""
        return self.count_pending(benchmark, repeats) > 0 or self._is_some(
            f"again > 0 AND {OF_ROUND}", benchmark
        )

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
        block_starts = iter(starts)
        while blocks := list(islice(block_starts, PAGE // size)):
            page = [idx for first in blocks for idx in range(first, min(first + size, n))]
            yield from self._pending_of(benchmark, repeats, page)

    def n_answered(self, benchmark: int, repeats: int) -> dict[int, int]:
        """Return how many of the first repeats have a response, by idx, unanswered ones aside."""
        query = (
            "SELECT idx, count(*) FROM steps WHERE benchmark = ? AND role = 0 AND void = 0"
            " AND repeat < ? GROUP BY idx"
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
        answered_repeats = self._answered_repeats(benchmark, repeats, page)
        pending = [idx for idx in page if len(answered_repeats.get(idx, ())) < repeats]
        which = "idx IN (SELECT value FROM json_each(?)) AND elsewhere = 0"
        stored = self._snapshot.samples_where(benchmark, which, dumps(pending))
        samples = {sample.idx: sample for sample in stored}
        for idx in pending:
            sample = samples.get(idx)
            if sample is not None and sample.fault is None:
                for repeat in range(repeats):
                    if repeat not in answered_repeats.get(idx, ()):
                        yield sample, repeat

    def has_answers(self) -> bool:
        """Return whether the endpoint has answered in this run, and that was scored."""
        return any(
            self._is_some(f"role = 1 AND {OF_ROUND} AND again < 2", benchmark)
            for benchmark, *_ in self._snapshot.benchmarks()
        )

    def has_answer(self, benchmark: int) -> bool:
        """Return whether an answer to a benchmark, not a refusal or fault, is stored."""
        # With a verdict (`again` is 2 where there was none), without, or to a further request.
        return (
            self._is_some(f"role = 1 AND {OF_ROUND} AND again < 2", benchmark)
            or any(True for _ in self.unscored_answers(benchmark, upto=IDX_MAX))
            or self._is_some("(role > 1 OR void > 0)", benchmark)
        )

    def _is_some(self, condition: str, benchmark: int) -> bool:
        query = f"SELECT 1 FROM steps WHERE benchmark = ? AND {condition} AND void = 0 LIMIT 1"
        return self._snapshot.execute(query, (benchmark,)).fetchone() is not None

    def last_answer(self) -> int:
        """Return a mark that limits `unscored_answers` to what is stored now; 0 for nothing."""
        query = "SELECT seq FROM steps NOT INDEXED WHERE role = 0 AND void = 0 ORDER BY seq DESC LIMIT 1"
        row = self._snapshot.execute(query).fetchone()
        return 0 if row is None else int(row[0])

    def has_outcomes(self, benchmark: int) -> bool:
        """Return whether any sample of a benchmark has an outcome."""
        return self._is_some(f"role = 1 AND {OF_ROUND}", benchmark)

    def usable_ids(self, benchmark: int) -> Iterator[tuple[str, int]]:
        """Yield ``(sample_id, idx)`` of each sample of a benchmark that is not a bad row."""
        query = "SELECT sample_id, idx FROM samples WHERE benchmark = ? AND fault IS NULL"
        yield from self._snapshot.execute(query, (benchmark,))

    def unscored_answers(self, benchmark: int, *, upto: int) -> Iterator[tuple[StoredSample, Row]]:
        """Yield each sample that was answered before ``upto`` and never scored, with its answer."""
        last_seq = 0
        columns = ", ".join(f"r.{name}" for name in Row._fields)
        query = (
            f"SELECT r.seq, s.idx, s.sample_id, s.row_number, s.content, s.fault, {columns}"
            " FROM steps r NOT INDEXED"
            " CROSS JOIN samples s ON s.benchmark = r.benchmark AND s.idx = r.idx"
            " WHERE r.benchmark = ? AND r.seq > ? AND r.seq <= ? AND r.role = 0 AND r.void = 0"
            " AND NOT EXISTS (SELECT 1 FROM steps o WHERE o.benchmark = r.benchmark"
            " AND o.attempt = (SELECT round FROM benchmarks WHERE id = r.benchmark)"
            " AND o.idx = r.idx AND o.repeat = r.repeat AND o.role = 1 AND o.void = 0)"
            " ORDER BY r.seq LIMIT ?"
        )
        # By the number of the row, so that each page goes on where the one before ended; NOT
        # INDEXED and CROSS JOIN keep SQLite from reading in another order, and sorting.
        while rows := self._snapshot.execute(query, (benchmark, last_seq, upto, PAGE)).fetchall():
            for row in rows:
                yield StoredSample(*row[1:6]), Row._make(row[6:])
            last_seq = rows[-1][0]

    def _answered_repeats(
        self, benchmark: int, repeats: int, page: Sequence[int]
    ) -> dict[int, set[int]]:
        repeats_by_idx: dict[int, set[int]] = {}
        query = (
            "SELECT idx, repeat FROM steps WHERE benchmark = ? AND role = 0 AND void = 0"
            " AND repeat < ? AND idx IN (SELECT value FROM json_each(?))"
        )
        for idx, repeat in self._snapshot.execute(query, (benchmark, repeats, dumps(page))):
            repeats_by_idx.setdefault(idx, set()).add(repeat)
        return repeats_by_idx
