"""Numbers for people: as many digits as tell the ends of an interval from what lies between them."""

from __future__ import annotations

from nel.reports import numbers
from nel.reports.comparison import Compared
from nel.reports.tables.results import results_table


def test_the_ends_of_a_narrow_difference_are_told_from_it() -> None:
    """Two runs of a million rows that differ in three answers: no +0.00 to +0.00; wide ones have two decimals."""
    tested = {"value": 3e-6, "ci_lower": 1e-6, "ci_upper": 8e-6, "ci_method": "tango"}
    measure = {"unit": "rate", "baseline": 0.5, "candidate": 0.500003, "difference": tested}
    compared = Compared("q", measure)
    assert compared.difference.text == "+0.00030"
    assert compared.difference.span == "+0.00010 to +0.00080"
    assert (compared.side("baseline").text, compared.side("candidate").text) == ("50.00000\u202f%", "50.00030\u202f%")
    tested |= {"value": -0.01, "ci_lower": -0.02, "ci_upper": 0.0}
    assert compared.difference.span == "−2.00 to +0.00"


def test_a_score_has_the_digits_of_its_interval() -> None:
    """99.9990 %, and not 100.00 %, where ten million answers say so, in table and pages."""
    headline = {"metric": "accuracy", "value": 0.99999, "unit": "rate", "ci_lower": 0.999987, "ci_upper": 0.999992}
    metrics = {
        "headline": {**headline, "bounds": None},
        "metrics": [],
        "accounting": {"n_unscored": 0, "n_not_asked": 0, "n_total": 9, "model_failures": {}, "unscored": {}},
    }
    ((_, _, score, span, *_),) = results_table({"q": metrics}).texts()
    assert (score, span) == ("99.99900\u202f%", "99.99870 – 99.99920\u202f%")
    ends = {"lower": headline["ci_lower"], "upper": headline["ci_upper"]}
    assert numbers.in_unit(headline["value"], "rate", **ends) == "99.99900\u202f%"
