"""The answers of a run that have a judge's verdict, for people to label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nel.artifacts.labels.calibration import is_verdict
from nel.artifacts.labels.pairs import check_pair, is_pair
from nel.artifacts.results import Result, read_result, reward_of
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import Snapshot
from nel.errors import UsageError, did_you_mean
from nel.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBenchmark:
    """A benchmark of a run that has answers with a judge's verdict."""

    key: int
    slot: str
    plan: JsonObject

    @property
    def repeats(self) -> int:
        """Return how many answers were asked for each sample."""
        return int(self.plan["repeats"])


def judged_benchmark(snapshot: Snapshot, run_dir: Path, slot: str | None) -> JudgedBenchmark:
    """Return the benchmark of a run to calibrate: the one named, or the only one with verdicts.

    Raises:
        UsageError: There is no such benchmark, none was judged, or several were and none is named.
    """
    candidates = [
        JudgedBenchmark(key=key, slot=name, plan=plan)
        for key, name, _, plan in snapshot.benchmarks()
        if plan
    ]
    if slot is not None:
        slots = [candidate.slot for candidate in candidates]
        candidates = [candidate for candidate in candidates if candidate.slot == slot]
        if not candidates:
            hint = did_you_mean(slot, slots) or _slot_list(slots)
            raise UsageError(f'{run_dir} has no benchmark "{slot}"{hint}')
    # `any` reads each benchmark up to its first verdict.
    benchmarks = [candidate for candidate in candidates if any(verdicts(snapshot, candidate))]
    if not benchmarks:
        what = f'no answer of "{slot}"' if slot is not None else "no answer"
        raise UsageError(
            f"{what} in {run_dir} has a judge's verdict; calibrate a run whose benchmark asks a"
            " judge"
        )
    if len(benchmarks) > 1:
        slots = [candidate.slot for candidate in benchmarks]
        raise UsageError(
            f"{run_dir} has several judged benchmarks{_slot_list(slots)}; give --bench"
        )
    return benchmarks[0]


def compares_pairs(snapshot: Snapshot, benchmark: JudgedBenchmark) -> bool:
    """Return whether the judge compared pairs.

    Raises:
        UsageError: People cannot be shown both answers of a pair.
    """
    has_pairs = False
    for result in verdicts(snapshot, benchmark):
        check_pair(result)
        has_pairs |= is_pair(result)
    return has_pairs


def verdicts(snapshot: Snapshot, benchmark: JudgedBenchmark) -> Iterator[Result]:
    """Yield the answers that have a judge's verdict, in dataset order."""
    for row in results(snapshot, benchmark.key, benchmark.repeats):
        if row.outcome is not None:
            result = read_result(row)
            if is_verdict(result):
                yield result


def judge_score(result: Result) -> float:
    """Return the judge's score of an answer."""
    return reward_of(result.outcome) or 0.0


def printable(text: str) -> str:
    """Return a text with NUL and lone surrogates escaped, which CSV and UTF-8 cannot hold."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def _slot_list(slots: Sequence[str]) -> str:
    return f": {', '.join(slots)}"
