"""What one pass over the results of a benchmark collects for its artifacts, and the lines of
results.jsonl that it makes.

What few runs have, such as judgements, labels or a stop rule, is imported where a run has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nel.artifacts.categories import Categories
from nel.artifacts.cautions import Copies, ScorerNotes, SilentCuts, UnknownEndings
from nel.artifacts.failures import FailureAnalysis
from nel.artifacts.files import AUDIT_NAME, BORROWED_NAME, CALIBRATION_NAME, LABELS_NAME
from nel.artifacts.results import (
    NOT_RUN,
    LineHead,
    Result,
    ResultLine,
    add_episode,
    not_asked_line,
    read_result,
    result_line,
    reward_of,
)
from nel.artifacts.runtime import SERVED_MAX, JudgeStats, RuntimeStats
from nel.artifacts.selection import QuestionDraw
from nel.artifacts.served import ServedBuilds
from nel.artifacts.spread import Spread
from nel.authoring.statistics_names import choose_statistics
from nel.config.schema import Price
from nel.core.finish_reasons import ending_of
from nel.core.message_json import messages_in
from nel.core.strict_json import dumps_line, loads
from nel.engine.store.projections.replies import exchanges
from nel.engine.store.projections.results import results
from nel.engine.store.rows import response_in
from nel.engine.store.snapshot import Snapshot
from nel.engine.store.spending import price_in
from nel.engine.store.sums import episode_sum
from nel.judges.record import KEY as JUDGEMENTS
from nel.metrics.accumulator import OTHER_SHARD, STOP_RULE, Accumulator
from nel.metrics.category_fields import fields_of
from nel.metrics.question_intervals import Design
from nel.metrics.requested import RequestedStatistics
from nel.metrics.statistics_collector import StatisticsCollector
from nel.scoring.golds import ListedGolds
from nel.types import JsonObject, Outcome, Response, SampleScore, Score, Unscored

if TYPE_CHECKING:
    from nel.artifacts.early_stop import EarlyStop
    from nel.artifacts.extraction import Auditing
    from nel.artifacts.labels.calibration import Calibrating
    from nel.artifacts.repeat_check import Pair
    from nel.judges.stats.summary import JudgingCounts

_OF_LABELS: Final = (LABELS_NAME, CALIBRATION_NAME, BORROWED_NAME)
_STOPPED_BEFORE: Final = "the stop rule ended the benchmark before this question"
_OTHER_SHARD_ASKS: Final = "another shard of the run asks this question"


@dataclass(frozen=True, kw_only=True)
class StoredBenchmark:
    """A benchmark of a run's store, and where its artifacts go."""

    snapshot: Snapshot
    run_id: str
    config: JsonObject
    """Of the run."""
    key: int
    """Its number in the store."""
    slot: str
    name: str
    plan: JsonObject
    directory: Path

    @cached_property
    def head(self) -> LineHead:
        """Return whose the lines of its results are."""
        return {"benchmark": self.name, "model": self.plan["model"]}

    @property
    def panel(self) -> list[JsonObject]:
        """Return the judges of its panel."""
        return (self.plan.get("judge") or {}).get("panel") or []

    @property
    def prices(self) -> dict[str, Price]:
        """Return the prices of models that the budget of the run has."""
        listed = (self.config.get("budget") or {}).get("prices") or {}
        return {model: Price.model_validate(price) for model, price in listed.items()}


class Collection:
    """Everything one pass over the results of a benchmark collects."""

    def __init__(self, benchmark: StoredBenchmark, requested: RequestedStatistics | None) -> None:
        """Start without a result.

        Args:
            benchmark: The stored benchmark.
            requested: Its metrics and reducers; None: those that its plan names and that are
                installed.
        """
        plan, prices = benchmark.plan, benchmark.prices
        self._stored = benchmark
        self.early = _early_stop(benchmark)
        self._drawn = QuestionDraw(plan)
        design, headline, of_category = _designs(self._drawn, self.early)
        self.total = Accumulator(design, headline=headline)
        self.categories = Categories(lambda: Accumulator(of_category))
        self.chosen = StatisticsCollector(requested or _planned_statistics(plan), design)
        self._has_statistics = not self.chosen.requested.is_empty
        self.failures = FailureAnalysis()
        self._solver = ((plan.get("identity") or {}).get("solver") or {}).get("name", "")
        """That answers the samples in episodes; empty where one request does."""
        self._price = price_in(benchmark.config)
        self.runtime = RuntimeStats(self._price)
        self.calibrating = _calibrating(benchmark)
        self.auditing = _auditing(benchmark)
        self.judging: JudgingCounts | None = None
        """None as long as nothing was judged."""
        self._panel = [str(member["name"]) for member in benchmark.panel]
        self.models_of_judges = _models_of_judges(benchmark)
        self.judges = JudgeStats(self._panel, self.models_of_judges, prices)
        self.endings = UnknownEndings()
        self.cuts = SilentCuts((plan.get("generation") or {}).get("max_tokens"))
        self.copies = Copies()
        self.notes = ScorerNotes()
        self.listed_golds = ListedGolds()
        self.served = ServedBuilds()
        self.spread = Spread()
        self.models: set[str] = set()
        """What the server of the evaluated model calls it."""
        self.n_not_run = 0
        self.n_beyond = 0
        """Responses that were in flight when a stop rule ended the benchmark."""
        self._question: object = object()  # equal to no question
        """What the latest judgements were about."""
        self._n_questions = 0

    def add_requests(self) -> list[Pair]:
        """Count the requests of judges and of the repeat check, and return the latter's answers."""
        snapshot, key = self._stored.snapshot, self._stored.key
        for row in exchanges(snapshot, key):
            response = response_in(row)
            if row.payer:
                self.judges.add(row.payer, response)
            else:
                self.runtime.add(response)
        n_again = self._stored.plan.get("repeat_check")  # imported results have none
        if n_again is None:
            return []
        from nel.artifacts.repeat_check import read_pairs  # noqa: PLC0415 - few runs have one

        pairs = list(read_pairs(snapshot, key, n_again))
        for pair in pairs:
            self.runtime.add_answer(pair.second.response)
        return pairs

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of results.jsonl, each result counted."""
        benchmark = self._stored
        why = benchmark.snapshot.meta("not_run")
        not_run = Unscored(**why) if why else NOT_RUN
        for stored_result in results(benchmark.snapshot, benchmark.key, benchmark.plan["repeats"]):
            result = read_result(stored_result, not_run=not_run, price=self._price)
            self.runtime.add_answer(result.response)
            # A question of another shard, one after the stop of a rule, and one that counts. Tokens
            # and time of every response count: what was in flight at the stop was paid for.
            if result.is_elsewhere:
                self._count(result, OTHER_SHARD)
                line = not_asked_line(result, benchmark.head, OTHER_SHARD, _OTHER_SHARD_ASKS)
                yield dumps_line(line)
            elif self.early is not None and not self.early.counts(result.idx):
                self.n_beyond += result.response is not None
                self._count(result, STOP_RULE)
                yield dumps_line(not_asked_line(result, benchmark.head, None, _STOPPED_BEFORE))
            else:
                self._count(result, result.outcome)
                self._add(result)
                row = stored_result.response
                yield self._line(result, None if row is None else row.request)

    def _line(self, result: Result, request_json: str | None) -> bytes:
        line = result_line(result, self._stored.head)
        if self._solver and isinstance(result.outcome, Unscored) and "episode" not in line:
            self._add_unfinished(line, result)
        if result.sample is not None and result.sample.turns and request_json:
            # The prompt of several turns: all messages before the last answer.
            messages: Any = messages_in(loads(request_json))
            line["prompt"] = messages
        return dumps_line(line)

    def _add_unfinished(self, line: ResultLine, result: Result) -> None:
        """Add what is stored of an episode that has no answer, or was cut off by the run's end."""
        episode = result.unfinished or episode_sum((), self._price)
        if episode["attempts"] == 0 and result.response is None:
            return
        outcome = line["outcome"]
        ended_by = f"{outcome['cause']}:{outcome['kind']}"
        add_episode(line, {**episode, "solver": self._solver, "ended_by": ended_by})
        if not result.was_run:
            detail = (outcome["detail"] or "").removeprefix("never asked")
            outcome["detail"] = f"cut off in its episode after step {episode['steps']}{detail}"

    def _count(self, result: Result, outcome: Outcome | str) -> None:
        fields = fields_of(result.sample)
        group = None if result.sample is None else result.sample.group
        self._drawn.add(result.idx, fields, group)
        for accumulator in (self.total, *self.categories.of(fields)):
            accumulator.add(result.idx, outcome, group=group)

    def _add(self, result: Result) -> None:
        outcome, response = result.outcome, result.response
        self.n_not_run += not result.was_run
        self.failures.add(result)
        reward = reward_of(outcome)
        if reward is not None:
            self.spread.add(result.idx, reward)
        if response is not None and response.error is None:
            self._add_answer(result.idx, response)
        if response is not None and response.model is not None and len(self.models) < SERVED_MAX:
            self.models.add(response.model)
        self.notes.add(outcome)
        if result.sample is not None:
            self.listed_golds.add(result.sample.target)
        self._add_judgements(result)
        if self._has_statistics:
            group = None if result.sample is None else result.sample.group
            self.chosen.add(result.idx, outcome, _sample_score(result), group=group)
        if self.calibrating is not None:
            self.calibrating.add(result)
        if self.auditing is not None:
            self.auditing.add(result)

    def _add_answer(self, question: int, response: Response) -> None:
        ending = ending_of(response.finish_reason)
        self.endings.add(response, ending)
        self.cuts.add(response, ending)
        self.copies.add(question, response)
        self.served.add(question, response)

    def _add_judgements(self, result: Result) -> None:
        sample, outcome, question = result.sample, result.outcome, result.idx
        if sample is not None and "baseline" in sample.metadata:
            # Pairs of several models may share a question.
            question = sample.metadata.get("question_id", question)
        if question != self._question:
            self._question = question
            self._n_questions += 1
        judgements = outcome.details.get(JUDGEMENTS)
        unscored = outcome if isinstance(outcome, Unscored) else None
        is_fault = unscored is not None and unscored.cause == "judge"
        if judgements is None and not is_fault:
            return
        if self.judging is None:
            from nel.judges.stats.summary import JudgingCounts  # noqa: PLC0415 - of judged runs

            self.judging = JudgingCounts(self._panel)
        self.judging.add(
            self._n_questions,
            judgements,
            unscored_kind=unscored.kind if unscored is not None and is_fault else None,
            unscored_detail="" if unscored is None else unscored.detail,
        )


def _calibrating(benchmark: StoredBenchmark) -> Calibrating | None:
    """Return the collector of a benchmark's labels, None where it never had any."""
    if not any((benchmark.directory / name).exists() for name in _OF_LABELS):
        return None
    from nel.artifacts.labels.calibration import Calibrating  # noqa: PLC0415 - few runs have labels

    return Calibrating(benchmark.directory)


def _auditing(benchmark: StoredBenchmark) -> Auditing | None:
    """Return the reader of a benchmark's answers in several ways, None where it has no audit."""
    if not (benchmark.directory / AUDIT_NAME).is_file():
        return None
    from nel.artifacts.extraction import Auditing  # noqa: PLC0415 - few runs are audited

    return Auditing(benchmark.directory, benchmark.name, benchmark.plan)


def _early_stop(benchmark: StoredBenchmark) -> EarlyStop | None:
    if not (benchmark.config.get("stop") or {}).get("when"):
        return None
    from nel.artifacts.early_stop import read_early_stop  # noqa: PLC0415 - few runs have one

    return read_early_stop(benchmark.snapshot, benchmark.key, benchmark.slot, benchmark.plan)


def _designs(
    draw: QuestionDraw, early_stop: EarlyStop | None
) -> tuple[Design, Design | None, Design]:
    """Return how questions were drawn for all metrics, for the headline where it has an interval of
    its own, and for categories.
    """
    anytime = None if early_stop is None else early_stop.interval
    if anytime is None:
        return draw.design, None, draw.of_category
    from nel.artifacts.early_stop import NO_INTERVAL  # noqa: PLC0415 - few runs stop early

    if draw.design.fixed is not None:  # of the first so many questions: the interval is of those
        anytime = replace(anytime, covers=draw.design.fixed.reason or "")
    design = Design(fixed=NO_INTERVAL)
    return design, Design(fixed=anytime), design


def _models_of_judges(benchmark: StoredBenchmark) -> dict[str, str]:
    config = benchmark.config
    roles = (config.get("model_roles") or {}).values()
    own_roles = ((benchmark.plan.get("identity") or {}).get("judge.roles") or {}).values()
    itself = [config["endpoint"]] if config.get("endpoint") else []
    judges = (*itself, *own_roles, *roles, *benchmark.panel)
    return {str(judge.get("name") or judge["model"]): str(judge["model"]) for judge in judges}


def _planned_statistics(plan: JsonObject) -> RequestedStatistics:
    return choose_statistics(
        None,
        metrics=plan.get("metrics", ()),
        reducers=plan.get("reducers", ()),
        repeats=plan["repeats"],
        installed_only=True,
    )


def _sample_score(result: Result) -> SampleScore:
    sample, response = result.sample, result.response
    return SampleScore(
        score=Score(value=0.0),
        sample_id=result.sample_id,
        sample_metadata=None if sample is None else sample.metadata,
        response=None if response is None else response.text,
        target=None if sample is None else sample.target,
        subset=None if sample is None else sample.subset,
    )
