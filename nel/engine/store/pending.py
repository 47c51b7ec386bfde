"""What a run has still to ask and to score, by its run.db. Reads a page at a time and writes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from nel.engine.store.snapshot import PAGE, Snapshot, StoredSample

_BLOCK = 4096
"""Samples that one query checks for missing responses."""


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

    def samples(
        self, benchmark: int, repeats: int, *, first: int = 0
    ) -> Iterator[tuple[StoredSample, int]]:
        """Yield each good (sample, repeat) that has no response yet; blocks without a missing one
        are skipped.

        Args:
            benchmark: Its number.
            repeats: Of each sample.
            first: The first idx to yield.
        """
        query = "SELECT ifnull(max(idx), -1) FROM samples WHERE benchmark = ?"
        end = self._snapshot.count(query, (benchmark,))
        for block in range(first - first % _BLOCK, end + 1, _BLOCK):
            if not self._is_answered(benchmark, repeats, block):
                yield from self._pending_in(
                    benchmark, repeats, max(block, first), block + _BLOCK - 1
                )

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
        yield from self._pending_in(benchmark, repeats, idx, idx)

    def _is_answered(self, benchmark: int, repeats: int, first: int) -> bool:
        """Return whether every sample of a block has all its responses; counts index entries and
        reads no row.
        """
        where = "benchmark = ? AND idx BETWEEN ? AND ?"
        block = (benchmark, first, first + _BLOCK - 1)
        samples = self._snapshot.count(f"SELECT count(*) FROM samples WHERE {where}", block)  # noqa: S608
        responses = self._snapshot.count(
            f"SELECT count(*) FROM responses WHERE {where} AND repeat < ?",  # noqa: S608
            (*block, repeats),
        )
        # A bad row never has a response, so that a block with one is always read row by row.
        samples -= len(self._snapshot.elsewhere(benchmark, first, block[2]))
        return responses == samples * repeats

    def _pending_in(
        self, benchmark: int, repeats: int, first: int, last: int
    ) -> Iterator[tuple[StoredSample, int]]:
        done: dict[int, set[int]] = {}
        others: set[int] = set()
        upto = -1
        for sample in self._snapshot.samples(benchmark, first=first, last=last):
            if sample.idx > upto:
                upto = min(sample.idx + PAGE - 1, last)
                done = self._answered(benchmark, sample.idx, upto)
                others = self._snapshot.elsewhere(benchmark, sample.idx, upto)
            if sample.fault is None and sample.idx not in others:
                known = done.get(sample.idx, ())
                yield from ((sample, repeat) for repeat in range(repeats) if repeat not in known)

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
        """Yield ``(sample_id, idx)`` of each sample of a benchmark that is no bad row."""
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

    def _answered(self, benchmark: int, first: int, last: int) -> dict[int, set[int]]:
        done: dict[int, set[int]] = {}
        query = "SELECT idx, repeat FROM responses WHERE benchmark = ? AND idx BETWEEN ? AND ?"
        for idx, repeat in self._snapshot.execute(query, (benchmark, first, last)):
            done.setdefault(idx, set()).add(repeat)
        return done
