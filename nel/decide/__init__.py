"""Decisions from scores: paired tests, verdicts, multiplicity, repeats. Pure functions over arrays; no I/O.

Depends on numpy, `nel.metrics` and `nel.errors`.
"""

from nel.decide.mcnemar import mcnemar_exact, mcnemar_log_p, tango_interval, tango_z
from nel.decide.multiplicity import benjamini_hochberg, benjamini_yekutieli, holm
from nel.decide.paired import PairedDifference, PairedT, paired_difference, paired_t
from nel.decide.repeats import MarginalGain, VarianceParts, marginal_gain, mean_standard_error, variance_parts
from nel.decide.sign_flip import sign_flip
from nel.decide.verdict import GateDecision, Verdict, non_inferiority, verdict, verdict_within_bounds

__all__ = [
    "GateDecision",
    "MarginalGain",
    "PairedDifference",
    "PairedT",
    "VarianceParts",
    "Verdict",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "holm",
    "marginal_gain",
    "mcnemar_exact",
    "mcnemar_log_p",
    "mean_standard_error",
    "non_inferiority",
    "paired_difference",
    "paired_t",
    "sign_flip",
    "tango_interval",
    "tango_z",
    "variance_parts",
    "verdict",
    "verdict_within_bounds",
]
