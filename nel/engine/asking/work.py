"""The (sample, repeat) pairs that a session has to ask, drawn at random from each benchmark in
turn. Reads the snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nel.engine.asking.repeat_check import pending_checks
from nel.engine.planning.plan import Plan
from nel.engine.store.codec import decode_sample
from nel.engine.store.projections.pending import Pending
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.types import SECOND_ASKING, Sample, SampleKey

if TYPE_CHECKING:
    from nel.engine.stopping.stop_rule import StopRule

RuleOf: TypeAlias = "Callable[[int], StopRule | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One plan with its number in the store."""

    key: int
    plan: Plan


class WorkItem(NamedTuple):
    """One sample to ask, in one repeat."""

    job: Job
    key: SampleKey
    """Where its answer is stored."""
    sample: Sample


class WorkQueue:
    """Yields what is pending, each item once."""

    def __init__(
        self, snapshot: Snapshot, jobs: list[Job], rule_of: RuleOf = lambda _: None
    ) -> None:
        """Start at the first pending item.

        Args:
            snapshot: Of the run.
            jobs: Its benchmarks.
            rule_of: Returns the stop rule of a benchmark by its number: its samples then come in
                the order they are drawn in, and none does once the rule has ended the benchmark.
        """
        self._rule_of = rule_of
        self._drawn_upto = (-1, 0)
        """Position in the drawn order and repeat of the last item."""
        self._snapshot = snapshot
        self._pending_samples = Pending(snapshot)
        self._jobs = jobs
        self._by_job = [self._samples(job) for job in jobs]
        self._items = self._pending()

    def __iter__(self) -> Iterator[WorkItem]:
        return self._items

    def spread(self, n: int) -> Iterator[WorkItem]:
        """Take at most n items, from all benchmarks that are left.

        An item that is not asked for stays where it is.
        """
        if any(self._rule_of(job.key) for job in self._jobs):  # each is drawn up to a position
            yield from islice(self._items, n)
            return
        # Evenly over the benchmarks, as 0, 0, 1, 1 of two for n = 4; one that has no sample left
        # gives way to any other.
        for number in range(n):
            samples = self._by_job[number * len(self._by_job) // n]
            yield from islice(chain(samples, self._items), 1)

    def _pending(self) -> Iterator[WorkItem]:
        for samples in self._by_job:
            yield from samples
        for job in self._jobs:
            for sample in pending_checks(self._snapshot, job.key, job.plan.config.repeat_check):
                yield _item(job, sample, SECOND_ASKING)

    def _samples(self, job: Job) -> Iterator[WorkItem]:
        rule = self._rule_of(job.key)
        if rule is not None:
            yield from self._draw(job, rule)
            return
        for sample, repeat in self._pending_samples.samples(job.key, job.plan.config.repeats):
            yield _item(job, sample, repeat)

    def _draw(self, job: Job, rule: StopRule) -> Iterator[WorkItem]:
        for position, idx in enumerate(rule.order.order):
            if position >= rule.n_wanted:
                return
            for sample, repeat in self._pending_samples.samples_of(
                job.key, idx, job.plan.config.repeats
            ):
                if position >= rule.n_wanted:
                    return
                self._drawn_upto = position, repeat
                yield _item(job, sample, repeat)

    def n_left_out(self, job: Job, rule: StopRule) -> int:
        """Return how many (sample, repeat) pairs a rule that has just ended leaves unasked."""
        # The further repeats of the last question that was drawn, and all questions after it.
        position, repeat = self._drawn_upto
        repeats = job.plan.config.repeats
        return repeats - repeat - 1 + n_unanswered(self._snapshot, job, rule, first=position + 1)


def n_unanswered(
    snapshot: Snapshot, job: Job, rule: StopRule, *, first: int = 0, last: int | None = None
) -> int:
    """Return how many (sample, repeat) pairs in a slice of a drawn order are unanswered."""
    repeats = job.plan.config.repeats
    n_answers = Pending(snapshot).n_answered(job.key, repeats)
    questions = (idx for idx in rule.order.order[first:last] if idx not in rule.order.unusable)
    return sum(repeats - n_answers.get(idx, 0) for idx in questions)


def _item(job: Job, sample: StoredSample, repeat: int) -> WorkItem:
    key = SampleKey(job.key, sample.idx, repeat)
    return WorkItem(job, key, decode_sample(sample.sample_id, sample.content or ""))
