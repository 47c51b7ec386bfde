"""Decides when a benchmark may end early: looks at the drawn order's prefixes in which every
question has an outcome.

A look sees outcomes in the order their questions were drawn in, one cluster after the other,
whatever order they came in. So the decision is the same at any concurrency and after any number of
kills, and fast answers are not favoured. Outcomes of questions after the prefix at which a rule
held never count. Does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

from nel.config.schema.stop import StopCondition
from nel.decide.early_stop import DrawnMean, PairedDirection
from nel.decide.sequential import StopReason
from nel.engine.stopping.drawn_order import DrawnOrder
from nel.types import ModelFailure, Outcome, Scored

_HARM_FIRST: Final = ("better-or-worse", "futile", "width")
ANY: Final = (0.0, 1.0)
"""What an unscored question could have scored."""


class StopDecision(TypedDict):
    """Why and where a rule ended a benchmark, as run.db has it."""

    n_clusters: int
    """So many clusters of the drawn order count."""
    reason: StopReason
    condition: str
    """The condition that held."""


class StoredBaseline(TypedDict):
    """The scores of the run that a rule compares with, as run.db has them."""

    run_id: str
    low: list[float]
    """The lowest mean of each question, by its idx."""
    high: list[float]
    """The highest: above the lowest where repeats are unscored or the row cannot be asked."""
    is_binary: bool


def ends_of(outcome: Outcome) -> tuple[float, float]:
    """Return the lowest and highest score that an outcome leaves possible.

    Raises:
        ValueError: The score lies outside 0 to 1, for which no interval is known that holds at any
            time.
    """
    if isinstance(outcome, Scored):
        if not 0.0 <= outcome.reward <= 1.0:
            raise ValueError(f"a score is {outcome.reward:g}, not between 0 and 1")
        return outcome.reward, outcome.reward
    return (0.0, 0.0) if isinstance(outcome, ModelFailure) else ANY


class StopRule:
    """The rule of one benchmark, fed with outcomes in any order."""

    def __init__(
        self,
        order: DrawnOrder,
        repeats: int,
        conditions: Sequence[StopCondition],
        baseline: StoredBaseline | None = None,
        *,
        decision: StopDecision | None = None,
    ) -> None:
        """Start before the first outcome.

        Args:
            order: In which questions are drawn.
            repeats: Outcomes of each question.
            conditions: Any that holds ends the benchmark.
            baseline: Scores of the run that a condition compares with.
            decision: Of an earlier session: then there are no further looks.
        """
        self.order = order
        self.decision = decision
        self.unusable: str | None = None
        """Why the rule cannot be applied, so that everything is asked; None where it can."""
        self.n_clusters = 0
        """Clusters of the prefix in which every question has an outcome."""
        drawn = order.drawn
        self.mean = DrawnMean(drawn)
        self.direction = None if baseline is None else _direction(order, repeats, baseline)
        self._baseline = baseline
        self._repeats = repeats
        self._conditions = sorted(
            conditions, key=lambda condition: _HARM_FIRST.index(condition.kind)
        )
        self._known: dict[int, dict[int, tuple[float, float]]] = {}
        """By idx and repeat, of questions after the prefix."""
        self._seen = bytearray(len(order.order))
        self._position = 0
        """In the order: all questions before it have all their outcomes."""

    def add(self, idx: int, repeat: int, outcome: Outcome) -> None:
        """Take the final outcome of one (question, repeat); look once its cluster is complete."""
        if self.is_over or repeat >= self._repeats or self._seen[idx]:
            return
        try:
            self._known.setdefault(idx, {})[repeat] = ends_of(outcome)
        except ValueError as error:
            self.unusable = str(error)
            return
        self._advance()

    def start(self) -> None:
        """Take the looks that need no outcome: clusters of unusable rows alone."""
        self._advance()

    @property
    def is_over(self) -> bool:
        """Return whether there are no further looks."""
        return self.decision is not None or self.unusable is not None

    @property
    def has_ended(self) -> bool:
        """Return whether a condition held, so that nothing after the prefix is asked."""
        return self.decision is not None

    @property
    def n_wanted(self) -> int:
        """Return how many questions are asked: all, or the prefix at which a condition held."""
        return (
            len(self.order.order)
            if self.decision is None
            else self.n_wanted_at(self.decision["n_clusters"])
        )

    def n_wanted_at(self, n_clusters: int) -> int:
        """Return how many questions the first clusters have."""
        return self.order.ends[n_clusters - 1] if n_clusters else 0

    def _advance(self) -> None:
        while not self.is_over and self.n_clusters < len(self.order.ends):
            start, end = self.n_wanted_at(self.n_clusters), self.order.ends[self.n_clusters]
            while self._position < end and self._is_complete(self.order.order[self._position]):
                self._position += 1
            if self._position < end:
                return
            self._look(self.order.order[start:end])

    def _is_complete(self, idx: int) -> bool:
        return idx in self.order.unusable or len(self._known.get(idx, ())) == self._repeats

    def _look(self, cluster: Sequence[int]) -> None:
        """Take the next cluster of the prefix, and end the benchmark where a condition holds."""
        totals = [self._take(idx) for idx in cluster]
        low, high = (sum(ends) for ends in zip(*totals, strict=True))
        self.n_clusters += 1
        self.mean.add(len(cluster), low, high)
        if self.direction is not None and self._baseline is not None:
            lowest, highest = self._baseline["low"], self._baseline["high"]
            baseline = sum(lowest[idx] for idx in cluster), sum(highest[idx] for idx in cluster)
            self.direction.add(len(cluster), (low, high), baseline)
        # After the last cluster there is nothing to leave out.
        if self.n_clusters < len(self.order.ends):
            self.decision = self._decide()

    def _take(self, idx: int) -> tuple[float, float]:
        """Return the lowest and highest mean of a question, which is forgotten."""
        self._seen[idx] = 1
        if idx in self.order.unusable:
            return ANY
        by_repeat = self._known.pop(idx)
        # Not in the order in which they came: the last bit of a sum of floats depends on it.
        pairs = [by_repeat[repeat] for repeat in range(self._repeats)]
        lows, highs = zip(*pairs, strict=True)
        return sum(lows) / self._repeats, sum(highs) / self._repeats

    def _decide(self) -> StopDecision | None:
        for condition in self._conditions:
            reason = self._reason(condition)
            if reason is not None:
                return StopDecision(
                    n_clusters=self.n_clusters, reason=reason, condition=condition.name
                )
        return None

    def _reason(self, condition: StopCondition) -> StopReason | None:
        if condition.kind == "better-or-worse":
            return None if self.direction is None else self.direction.decided
        if condition.kind == "futile":
            return StopReason.FUTILE if self.mean.upper < condition.value else None
        return StopReason.NARROW if self.mean.upper - self.mean.lower < condition.value else None


def _direction(order: DrawnOrder, repeats: int, baseline: StoredBaseline) -> PairedDirection:
    drawn = order.drawn
    totals = sum(baseline["low"]), sum(baseline["high"])
    is_binary = baseline["is_binary"] and repeats == 1 and drawn.size_max == 1
    return PairedDirection(drawn, totals, is_binary=is_binary)
