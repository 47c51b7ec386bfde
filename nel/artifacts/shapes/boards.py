"""Shapes of leaderboard.json and matrix_results.json."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from nel.artifacts.shapes.run_files import StateCounts
from nel.core.strict_json import Count, Positive, Rate, Text
from nel.metrics.accumulator import BoundsJson, EndsJson, Unit


class RateEnds(TypedDict):
    """Both ends of the interval of a rate."""

    ci_lower: Rate | None
    ci_upper: Rate | None


class PairScheduling(TypedDict):
    """Which pairs were compared."""

    baseline: str | None
    seed: int
    n_questions_apart: Count


class WinRateFields(RateEnds):
    """A win rate with its interval and counts."""

    value: Rate | None
    ci_method: Literal["wilson", "added_question", "added_question_groups", "none"]
    n: Count
    n_questions: Count
    wins: Count
    ties: Count
    losses: Count


class EstimateFields(EndsJson):
    """An estimate with its interval."""

    value: float


class RateEstimate(RateEnds):
    """A rate with its interval."""

    value: Rate


class BoardStanding(TypedDict):
    """Rank and strength of a model."""

    rank: Positive | None
    rank_lower: Positive | None
    rank_upper: Positive | None
    strength: EstimateFields | None
    elo: EstimateFields | None
    expected_win_rate: RateEstimate | None
    reason: str | None


class AlpacaEvalFields(EndsJson):
    """The length-controlled win rate of AlpacaEval 2."""

    value: float | None
    strength: float | None
    length: float | None
    n: Count
    reason: str | None


class LabelCorrectedRate(EndsJson):
    """A win rate as people's labels correct it."""

    value: float | None
    n_labelled: Count
    reason: str | None


class BoardModel(BoardStanding):
    """One model of the leaderboard."""

    label: Text
    model: str | None
    run_id: Text
    identity: Text
    win_rate: WinRateFields
    length_controlled: BoardStanding | None
    judged: Count
    flips: Count
    failed: dict[str, Count]
    left_out: Count
    alpaca_eval_2: NotRequired[AlpacaEvalFields]
    """AlpacaEval 2's length-controlled win rate against the baseline; only with length control."""
    label_corrected: NotRequired[LabelCorrectedRate]
    """The win rate as people's labels of some pairs correct it; only with labels."""


class BoardPair(TypedDict):
    """Two models against each other."""

    left: Text
    right: Text
    win_rate: WinRateFields


class BoardRanking(TypedDict):
    """A ranking by strength."""

    length_coefficient: EstimateFields | None
    reason: str | None


class BoardPosition(TypedDict):
    """How verdicts depend on the order of two answers."""

    n_pairs: Count
    n_flipped: Count
    flips: WinRateFields
    first: WinRateFields


class BoardCounts(TypedDict):
    """Pairs by what became of them."""

    pairs: Count
    judged: Count
    forfeits: Count
    left_out: Count
    questions: Count


class LeftOutPairs(TypedDict):
    """Pairs of two models without a verdict."""

    left: str
    right: str
    of: Text
    reason: Text
    n: Count


class BoardStatistics(TypedDict):
    """Settings of the statistics."""

    baseline: str | None
    length_control: bool
    n_resamples: Count
    seed: int
    level: Rate


class SameFamilyJudge(TypedDict):
    """A judge of the same family as a model that it judged."""

    judge: Text
    model: Text


class LeaderboardFile(TypedDict):
    """leaderboard.json: models ranked by pairs of answers that a judge compared."""

    format: Literal[1]
    sdk: Text
    run_id: Text
    benchmark: dict[str, str | None]
    judge: dict[str, object] | None
    """Who judged and how, as the judging run has it."""
    scheduling: PairScheduling
    models: Annotated[list[BoardModel], Field(min_length=2)]
    pairs: list[BoardPair]
    ranked_by: Literal["Elo", "length-controlled Elo", "win rate"]
    bradley_terry: BoardRanking
    length_control: BoardRanking | None
    position: BoardPosition
    counts: BoardCounts
    """pairs = judged + forfeits + left_out."""
    left_out: list[LeftOutPairs]
    complete: bool
    statistics: BoardStatistics
    formulas: dict[str, Text]
    same_family: list[SameFamilyJudge]


class MatrixScore(StateCounts, EndsJson):
    """The headline of one benchmark, or a mean over several."""

    metric: Text
    unit: Unit
    value: float | None
    ci_method: str | None
    bounds: BoundsJson | None
    complete: bool
    selection: str
    """What the score is of, in one line; empty where it is of all questions."""


class MatrixRun(TypedDict):
    """The run of one endpoint."""

    name: Text
    model: str | None
    url: str | None
    """Without user name, password and query."""
    directory: Text
    """Below the directory of this file."""
    exit_code: Count
    ended: Text
    """done, the name of a signal, or why the run stopped."""
    benchmarks: dict[str, MatrixScore]
    aggregates: dict[str, MatrixScore]
    """Means over several of them."""


class MatrixFile(TypedDict):
    """matrix_results.json: the scores of several endpoints' runs over the same benchmarks."""

    matrix_id: Text
    exit_code: Count
    """The worst of the runs'."""
    runs: Annotated[list[MatrixRun], Field(min_length=1)]
