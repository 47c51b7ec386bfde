"""Shapes of what metrics.json says of judges, and of calibration.json."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from nel.artifacts.shapes.rules import NULL_HAS_REASON
from nel.artifacts.shapes.run_files import BenchmarkHead
from nel.core.strict_json import Amount, Count, Level, Rate, Text
from nel.judges.stats.position_bias import PositionBiasJson, ShareJson
from nel.metrics.accumulator import CauseJson, EndsJson

Statistic: TypeAlias = Annotated[ShareJson, NULL_HAS_REASON]
Measure: TypeAlias = Annotated["LabelMeasure", NULL_HAS_REASON]


class PanelSettings(TypedDict):
    """How opinions become a grade."""

    aggregate: str | None
    quorum: Count | None
    repeats: Count | None
    swap: bool | None


class JudgeCounts(TypedDict):
    """What one judge did."""

    name: Text
    model: str | None
    cases: Count
    verdicts: Count
    reasked: Count
    faults: dict[str, Count]
    mean_score: float | None
    grades: dict[str, Count]


class KappaStatistic(ShareJson):
    """Agreement beyond chance."""

    method: Literal["cohen", "mean of pairs"]
    weights: Literal["quadratic"] | None


class JudgePair(TypedDict):
    """How far two judges agree."""

    judges: Annotated[list[Text], Field(min_length=2, max_length=2)]
    n: Count
    raw: Rate | None
    kappa: float | None
    reason: str | None


class RatedUnits(TypedDict):
    """Cases that several opinions are of, and how far these agree."""

    template: Text
    level: Literal["nominal", "ordinal", "interval"]
    n_units: Count
    n_unanimous: Count
    n_missing: Count
    raw: Statistic
    alpha: Statistic


class JudgeAgreement(RatedUnits):
    """How far the judges of a panel agree."""

    kappa: Annotated[KappaStatistic, NULL_HAS_REASON]
    """A measure with its interval; a null value carries its reason."""
    fleiss_kappa: Statistic | None
    pairs: list[JudgePair]


class SelfConsistency(RatedUnits):
    """How far repeated opinions of one judge agree."""

    judge: Text
    unanimous: Statistic


class BaseRates(TypedDict):
    """Shares of good answers, by judge and by people."""

    judge: float | None
    judge_labelled: float | None
    labels: float | None
    labels_weighted: float | None


class LabelMeasure(EndsJson):
    """A measure against people's labels."""

    value: float | None
    ci_method: Text
    reason: str | None
    n: NotRequired[Count]
    n_effective: NotRequired[Amount | None]


class LabelAgreement(TypedDict):
    """Agreement of judge and labels."""

    raw: Measure
    kappa: Measure
    kappa_linear: NotRequired[Measure]
    kappa_quadratic: NotRequired[Measure]
    ac1: NotRequired[Measure]
    pabak: NotRequired[Measure]


class AnnotatorAgreement(TypedDict):
    """Agreement of people with each other."""

    names: list[str]
    n_labels: dict[str, Count]
    n_several: Count
    n_disputed: Count
    agreement: dict[str, object]


class GradeRecall(LabelMeasure):
    """Of one label, how often the judge gave that grade."""

    label: float
    grade: str | None
    n_found: Count


class PanelMemberAgreement(TypedDict):
    """How far one judge of a panel agrees with the labels."""

    judge: str
    n: Count
    agreement: float | None
    weight: float | None


class CalibrationSummary(TypedDict):
    """What labels say of a judge."""

    n_judged: Count
    n_labelled: Count
    n_stale: Count
    is_binary: bool
    base_rates: BaseRates
    agreement: LabelAgreement
    sensitivity: Measure
    specificity: Measure
    annotators: NotRequired[AnnotatorAgreement]
    """Where several people labelled: their agreement, the ceiling of the judge's."""
    recall: NotRequired[list[GradeRecall]]
    """Of each label of several, how often the judge gave that grade."""
    panel: NotRequired[list[PanelMemberAgreement]]
    """How far each judge of a panel agrees with the labels, and the weight of its vote."""


class CorrectedValue(EndsJson):
    """One estimate of the headline."""

    value: float | None
    ci_level: Level | None
    ci_method: str | None
    reason: str | None


class CorrectedHeadline(TypedDict):
    """The headline as the judge gave it and as people would have."""

    n_judged: Count
    n_labelled: Count
    raw: CorrectedValue
    rogan_gladen: CorrectedValue
    ppi: CorrectedValue
    labels_of: NotRequired[str]
    """The run whose labels stand in, where this one has none."""
    labels: NotRequired[CorrectedValue]
    best: NotRequired[Literal["ppi", "labels", "rogan_gladen"] | None]
    """The estimate to quote."""


class PositionSwap(PositionBiasJson):
    """How one judge's verdicts depend on the order of two answers."""

    template: Text
    judge: Text


class JudgingSummary(TypedDict):
    """What judges did and how far they can be trusted."""

    n_judged: Count
    n_cases: Count
    n_cases_without_grade: Count
    n_without_grade: CauseJson
    """Samples that are unscored by judge, by kind; as in accounting."""
    templates: dict[str, Count]
    settings: PanelSettings
    """How opinions become a grade, as configured."""
    judges: list[JudgeCounts]
    agreement: list[JudgeAgreement]
    self_consistency: list[SelfConsistency]
    position_swap: list[PositionSwap]
    calibration: NotRequired[CalibrationSummary]
    """What people's labels say of the judge; the whole of it is in calibration.json."""
    corrected: NotRequired[CorrectedHeadline]


class CalibratedMember(TypedDict):
    """A judge of the panel."""

    name: str | None
    model: str | None


class CalibratedJudge(PanelSettings):
    """The judge as it was configured."""

    panel: list[CalibratedMember]
    template: str | None
    criteria: str | None
    weights: NotRequired[dict[str, float]]


class Stratum(TypedDict):
    """Answers of one range of scores; each label stands for `weight` of them."""

    score_low: float
    score_high: float
    n: Count
    n_labelled: Count
    share: Rate
    weight: Amount | None


class ConfusionTable(TypedDict):
    """Labels against the judge's grades."""

    rows: Literal["label"]
    columns: Literal["judge"]
    categories: list[float] | None
    counts: list[list[Count]] | None
    shares: list[list[Rate]] | None


class CalibrationFile(BenchmarkHead, CalibrationSummary):
    """calibration.json: what labels say of a run's judge, and the headline corrected by them."""

    judge: CalibratedJudge | None
    warnings: list[Text]
    strata: list[Stratum]
    confusion: ConfusionTable
    """Counts of labels, and the shares of judged answers they stand for; null above ten scores."""
    corrected: CorrectedHeadline
    templates: list[str]
