"""Numbers for people: as many digits as tell the ends of an interval from what lies between them."""

from __future__ import annotations

from nel.reports import numbers
from nel.reports.comparison import interval, points
from nel.reports.run_rows import result_row


def test_the_ends_of_a_narrow_difference_are_told_from_it() -> None:
    """Two runs of a million rows that differ in three answers: no +0.00 to +0.00; wide ones have two decimals."""
    difference = {"value": 3e-6, "ci_lower": 1e-6, "ci_upper": 8e-6, "ci_method": "tango"}
    measure = {"baseline": 0.5, "candidate": 0.500003, "difference": difference}
    assert points(difference["value"], measure) == "+0.00030"
    assert interval(measure) == "+0.00010 to +0.00080"
    measure["difference"] = {"value": -0.01, "ci_lower": -0.02, "ci_upper": 0.0, "ci_method": "tango"}
    assert interval(measure) == "−2.00 to +0.00"


def test_a_score_has_the_digits_of_its_interval() -> None:
    """99.9990 %, and not 100.00 %, where ten million answers say so, in table and pages."""
    headline = {"metric": "accuracy", "value": 0.99999, "unit": "rate", "ci_lower": 0.999987, "ci_upper": 0.999992}
    row = result_row(
        "q",
        {
            "headline": {**headline, "bounds": None},
            "accounting": {"n_unscored": 0, "n_not_asked": 0, "n_total": 9, "model_failures": {}, "unscored": {}},
        },
    )
    assert (row["score"], row["95 % interval"]) == ("99.99900\u202f%", "99.99870\u202f% – 99.99920\u202f%")
    ends = {"lower": headline["ci_lower"], "upper": headline["ci_upper"]}
    assert numbers.figure(headline["value"], share=True, **ends) == "99.99900\u202f%"
    assert numbers.interval(*ends.values(), share=True) == "99.99870 – 99.99920\u202f%"
