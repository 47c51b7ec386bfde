"""Decisions from scores: paired tests, verdicts, multiplicity, power, stopping. Pure functions.

Depends on numpy, `nel.metrics` and `nel.errors`.
"""

from nel.decide.exact_power import exact_power
from nel.decide.labels import label_plan
from nel.decide.mcnemar import mcnemar_exact, mcnemar_log_p, tango_interval, tango_z
from nel.decide.multiplicity import benjamini_hochberg, holm
from nel.decide.paired import PairedDifference, paired_difference
from nel.decide.plans import (
    ComparisonPlan,
    CurvePoint,
    Pilot,
    Resources,
    gain_at,
    plan,
    power_curve,
)
from nel.decide.power import (
    Test,
    Variances,
    added_power,
    least_effect,
    mcnemar_power,
    power_of,
    questions_needed,
)
from nel.decide.ranks import one_sided, rank_intervals
from nel.decide.repeatability import Rerun, added_half_width, rerun_of
from nel.decide.repeats import (
    MarginalGain,
    VarianceParts,
    marginal_gain,
    variance_parts_of_sums,
)
from nel.decide.sequential import (
    ConfidenceSequence,
    StopReason,
)
from nel.decide.sign_flip import flip_test
from nel.decide.verdict import (
    GateDecision,
    Verdict,
    non_inferiority,
    verdict,
    verdict_within_bounds,
)

__all__ = [
    "ComparisonPlan",
    "ConfidenceSequence",
    "CurvePoint",
    "GateDecision",
    "MarginalGain",
    "PairedDifference",
    "Pilot",
    "Rerun",
    "Resources",
    "StopReason",
    "Test",
    "VarianceParts",
    "Variances",
    "Verdict",
    "added_half_width",
    "added_power",
    "benjamini_hochberg",
    "exact_power",
    "flip_test",
    "gain_at",
    "holm",
    "label_plan",
    "least_effect",
    "marginal_gain",
    "mcnemar_exact",
    "mcnemar_log_p",
    "mcnemar_power",
    "non_inferiority",
    "one_sided",
    "paired_difference",
    "plan",
    "power_curve",
    "power_of",
    "questions_needed",
    "rank_intervals",
    "rerun_of",
    "tango_interval",
    "tango_z",
    "variance_parts_of_sums",
    "verdict",
    "verdict_within_bounds",
]
