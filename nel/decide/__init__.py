"""Decisions from scores: paired tests, verdicts, multiplicity, power, stopping. Pure functions over
arrays; no I/O.

Depends on numpy, `nel.metrics` and `nel.errors`.
"""

from nel.decide.exact_power import exact_detectable, exact_power, exact_questions_needed
from nel.decide.labels import LabelPlan, label_plan
from nel.decide.mcnemar import mcnemar_exact, mcnemar_log_p, tango_interval, tango_z
from nel.decide.multiplicity import benjamini_hochberg, holm
from nel.decide.paired import PairedDifference, PairedT, paired_difference, paired_t
from nel.decide.plans import CurvePoint, Pilot, Plan, Resources, gain_at, plan, power_curve
from nel.decide.power import (
    Test,
    Variances,
    mcnemar_minimum_detectable_effect,
    mcnemar_power,
    mcnemar_questions_needed,
    minimum_detectable_effect,
    power_of,
    questions_needed,
)
from nel.decide.ranks import RankInterval, one_sided, rank_intervals, stratified_difference
from nel.decide.repeatability import Rerun, added_half_width, difference_rate, rerun_of
from nel.decide.repeats import (
    MarginalGain,
    VarianceParts,
    marginal_gain,
    mean_standard_error,
    variance_parts,
    variance_parts_of_sums,
)
from nel.decide.sequential import (
    ConfidenceSequence,
    Stopped,
    StopReason,
    betting_wealth,
    paired_e_value,
    paired_log_e_process,
    paired_log_e_value,
    paired_stop_at,
)
from nel.decide.sign_flip import sign_flip
from nel.decide.verdict import (
    GateDecision,
    Verdict,
    non_inferiority,
    verdict,
    verdict_within_bounds,
)

__all__ = [
    "ConfidenceSequence",
    "CurvePoint",
    "GateDecision",
    "LabelPlan",
    "MarginalGain",
    "PairedDifference",
    "PairedT",
    "Pilot",
    "Plan",
    "RankInterval",
    "Rerun",
    "Resources",
    "StopReason",
    "Stopped",
    "Test",
    "VarianceParts",
    "Variances",
    "Verdict",
    "added_half_width",
    "benjamini_hochberg",
    "betting_wealth",
    "difference_rate",
    "exact_detectable",
    "exact_power",
    "exact_questions_needed",
    "gain_at",
    "holm",
    "label_plan",
    "marginal_gain",
    "mcnemar_exact",
    "mcnemar_log_p",
    "mcnemar_minimum_detectable_effect",
    "mcnemar_power",
    "mcnemar_questions_needed",
    "mean_standard_error",
    "minimum_detectable_effect",
    "non_inferiority",
    "one_sided",
    "paired_difference",
    "paired_e_value",
    "paired_log_e_process",
    "paired_log_e_value",
    "paired_stop_at",
    "paired_t",
    "plan",
    "power_curve",
    "power_of",
    "questions_needed",
    "rank_intervals",
    "rerun_of",
    "sign_flip",
    "stratified_difference",
    "tango_interval",
    "tango_z",
    "variance_parts",
    "variance_parts_of_sums",
    "verdict",
    "verdict_within_bounds",
]
