"""What labels say of a judge: weighted back, with intervals that hold; which answers are asked about."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import jsonschema
import numpy as np
import pytest

from nel.artifacts.schema import load_schema
from nel.core.scaling import mean_of
from nel.judges.stats.agreement import cohen_kappa, gwet_ac1, pabak
from nel.judges.stats.calibration import KAPPA_MIN, calibration_json
from nel.judges.stats.corrected_headline import corrected_headline
from nel.judges.stats.human_labels import allocate, scale_of
from nel.judges.stats.tally import Tally
from nel.metrics.intervals import wilson_interval

_HEADLINE = {"value": None, "ci_lower": None, "ci_upper": None, "ci_level": 0.95, "ci_method": "wilson", "bounds": {}}


def _tally(answers: Iterable[tuple[float, float | None]], *, known: Iterable[float] = (), repeats: int = 1) -> Tally:
    """Return the tally of judged answers, ``(score, label)``, and of scores that stand without a judge."""
    tally = Tally()
    place = 0
    for score, label in answers:
        tally.add(place // repeats, score, is_judged=True, label=label)
        place += 1
    for score in known:
        tally.add(place, score, is_judged=False)
        place += 1
    return tally


def _table(right: tuple[int, int], wrong: tuple[int, int], *, more: tuple[int, int] = (0, 0)) -> Tally:
    """Return a tally by counts: judged right (label right, label wrong), judged wrong (same), unlabelled of each."""
    answers = [(1.0, 1.0)] * right[0] + [(1.0, 0.0)] * right[1] + [(0.0, 1.0)] * wrong[0] + [(0.0, 0.0)] * wrong[1]
    return _tally(answers + [(1.0, None)] * more[0] + [(0.0, None)] * more[1])


def test_a_grade_without_a_label_leaves_its_share_open() -> None:
    """Thirty right labels of the answers judged right say nothing of the hundred judged wrong, of which none has one."""
    found = calibration_json(_table((30, 0), (0, 0), more=(70, 100)))
    assert found["sensitivity"]["value"] == 1.0
    assert found["sensitivity"]["ci_lower"] < 0.9


def _headline(tally: Tally) -> dict[str, Any]:
    return {**_HEADLINE, "value": mean_of(tally.answers[2::4])}


def test_where_every_answer_has_a_label_nothing_is_weighted() -> None:
    """Measures are those of the plain table, and shares have Wilson's interval of about their own number."""
    found = calibration_json(_table((90, 5), (4, 1)))
    table = np.array([[1, 5], [4, 90]])
    agreement = found["agreement"]
    assert found["confusion"]["counts"] == [[1, 5], [4, 90]]
    assert agreement["raw"]["value"] == pytest.approx(0.91)
    assert agreement["kappa"]["value"] == pytest.approx(cohen_kappa(table))
    assert agreement["ac1"]["value"] == pytest.approx(gwet_ac1(table))
    assert agreement["pabak"]["value"] == pytest.approx(pabak(table))
    assert found["sensitivity"]["value"] == pytest.approx(90 / 94)
    assert found["specificity"]["value"] == pytest.approx(1 / 6)
    interval = wilson_interval(91, 100)
    ends = agreement["raw"]["ci_lower"], agreement["raw"]["ci_upper"]
    assert ends == pytest.approx((interval.lower, interval.upper), abs=0.01)


def test_corrections_of_one_run_agree_and_are_what_people_would_give() -> None:
    """PPI++ and Rogan-Gladen give the weighted mean of the labels; the second is wider."""
    tally = _table((101, 11), (20, 68), more=(1081, 719))
    corrected = corrected_headline(tally, _headline(tally), calibration_json(tally))
    expected = (1193 * 101 / 112 + 807 * 20 / 88) / 2000
    ppi, rogan_gladen = corrected["ppi"], corrected["rogan_gladen"]
    assert corrected["raw"]["value"] == pytest.approx(0.5965)
    assert (ppi["value"], rogan_gladen["value"]) == pytest.approx((expected, expected))
    assert rogan_gladen["ci_lower"] < ppi["ci_lower"] < ppi["ci_upper"] < rogan_gladen["ci_upper"]
    published = 0.576568, 0.679118  # of ppi_py, without strata
    assert (ppi["ci_lower"], ppi["ci_upper"]) == pytest.approx(published, abs=0.006)


def test_what_no_judge_scored_counts_as_it_is() -> None:
    """Half the headline is model failures: the correction moves the other half only."""
    alone = _table((45, 5), (10, 40))
    both = _table((45, 5), (10, 40))
    for place in range(100):
        both.add(1000 + place, 0.0, is_judged=False)
    first = corrected_headline(alone, _headline(alone), calibration_json(alone))
    second = corrected_headline(both, _headline(both), calibration_json(both))
    for method in ("ppi", "rogan_gladen"):
        assert first[method]["value"] == pytest.approx(0.55)
        assert second[method]["value"] == pytest.approx(0.275)
        assert second[method]["ci_upper"] - second[method]["ci_lower"] < 0.2


def test_labels_that_are_all_equal_have_no_kappa() -> None:
    """Where labels and verdicts are all the same kappa is undefined; agreement is 1 with an interval."""
    found = calibration_json(_table((30, 0), (0, 0), more=(70, 0)))
    for name in ("kappa", "ac1", "pabak"):
        assert found["agreement"][name]["value"] is None
        assert "one category" in found["agreement"][name]["reason"]
    assert found["agreement"]["raw"]["value"] == 1.0
    assert found["agreement"]["raw"]["ci_lower"] < 0.9
    assert found["specificity"] == {
        "value": None, "ci_lower": None, "ci_upper": None, "ci_method": "none", "n_effective": None,
        "reason": "no labelled answer is wrong",
    }  # fmt: skip
    tally = _table((30, 0), (0, 0), more=(70, 0))
    corrected = corrected_headline(tally, _headline(tally), found)
    assert corrected["rogan_gladen"]["value"] is None
    assert corrected["ppi"]["value"] == 1.0
    assert corrected["ppi"]["ci_lower"] < 0.99


def test_a_judge_that_guesses_is_not_corrected_with() -> None:
    """Rogan-Gladen is refused with its reason, PPI++ falls back to the labels, and a warning says so."""
    tally = _table((25, 25), (25, 25), more=(450, 450))
    found = calibration_json(tally)
    corrected = corrected_headline(tally, _headline(tally), found)
    assert corrected["rogan_gladen"]["value"] is None
    assert "hardly tells right from wrong" in corrected["rogan_gladen"]["reason"]
    assert corrected["ppi"]["value"] == pytest.approx(0.5)
    assert [warning for warning in found["warnings"] if "kappa is 0.00, below 0.7" in warning]


@pytest.mark.parametrize(
    ("tally", "warning"),
    [
        (_table((8, 1), (1, 8), more=(50, 50)), "only 18 labels"),
        (_table((60, 30), (30, 60)), "kappa is 0.33, below 0.7"),
        (_table((60, 5), (1, 0), more=(0, 30)), "scores 0, 1 of the judge cannot be told apart for want of labels"),
        (_table((60, 5), (0, 0), more=(0, 30)), "scores 0, 1 of the judge cannot be told apart for want of labels"),
    ],
)
def test_what_makes_the_numbers_weak_is_said(tally: Tally, warning: str) -> None:
    """Few labels, a low kappa, and a grade without a label."""
    assert [one for one in calibration_json(tally)["warnings"] if warning in one]


def test_grades_between_right_and_wrong_get_weighted_kappa_and_ppi_alone() -> None:
    """Three grades have no sensitivity; kappa counts how far apart a grade and a label are."""
    pairs = [(1.0, 1.0)] * 40 + [(1.0, 0.5)] * 8 + [(0.5, 0.5)] * 20 + [(0.5, 0.0)] * 5 + [(0.0, 0.0)] * 27
    tally = _tally(pairs + [(1.0, None)] * 200 + [(0.5, None)] * 50 + [(0.0, None)] * 150)
    found = calibration_json(tally)
    corrected = corrected_headline(tally, _headline(tally), found)
    assert found["is_binary"] is False
    assert found["confusion"]["categories"] == [0.0, 0.5, 1.0]
    agreement = found["agreement"]
    assert agreement["kappa"]["value"] < agreement["kappa_linear"]["value"] < agreement["kappa_quadratic"]["value"] < 1
    assert found["sensitivity"]["value"] is None
    assert corrected["rogan_gladen"]["value"] is None
    expected = (248 * (40 + 8 * 0.5) / 48 + 75 * (20 * 0.5) / 25) / 500
    assert corrected["ppi"]["value"] == pytest.approx(expected)


def test_the_warning_tests_the_kappa_that_is_printed_and_each_grade_has_its_recall() -> None:
    """Quadratic weights forgive a middle grade that the judge hardly ever finds; kappa and recall do not."""
    answers = [(1.0, 1.0)] * 90 + [(0.0, 0.0)] * 80 + [(1.0, 0.5)] * 20 + [(0.0, 0.5)] * 10 + [(0.5, 0.5)] * 5
    tally = _tally(answers)
    tally.grades |= {1.0: "COMPLIES", 0.5: "PARTIAL", 0.0: "REFUSES"}
    found = calibration_json(tally)
    assert found["agreement"]["kappa"]["value"] > KAPPA_MIN
    assert not [warning for warning in found["warnings"] if "kappa" in warning]
    worse = calibration_json(_tally(answers + [(0.5, 1.0)] * 40 + [(0.5, 0.0)] * 5))
    assert worse["agreement"]["kappa_quadratic"]["value"] > KAPPA_MIN > worse["agreement"]["kappa"]["value"]
    assert [warning for warning in worse["warnings"] if warning.startswith("kappa is 0.")]
    partial = next(one for one in found["recall"] if one["label"] == 0.5)
    assert (partial["grade"], partial["n_found"], partial["n"]) == ("PARTIAL", 5, 35)
    assert partial["value"] == pytest.approx(5 / 35)


def test_weights_of_a_panel_are_the_log_odds_of_its_agreement() -> None:
    """Weighted back to all answers: nine of ten right is worth more than six of ten, and a coin next to nothing."""
    tally = _table((80, 20), (20, 80), more=(300, 100))
    for score, n in ((1.0, 80), (1.0, 20), (0.0, 20), (0.0, 80)):
        for place in range(n):
            tally.add_opinion("good", score, agrees=place % 10 != 0)
            tally.add_opinion("fair", score, agrees=place % 10 < 6)
            tally.add_opinion("coin", score, agrees=place % 2 == 0)
    found = {one["judge"]: one for one in calibration_json(tally)["panel"]}
    assert [found[name]["n"] for name in ("good", "fair", "coin")] == [200, 200, 200]
    assert found["good"]["agreement"] == pytest.approx(0.9)
    assert found["good"]["weight"] == pytest.approx(math.log(180.5 / 20.5), abs=0.01)
    assert found["fair"]["weight"] == pytest.approx(math.log(120.5 / 80.5), abs=0.01)
    assert found["coin"]["weight"] == 0.01
    assert "panel" not in calibration_json(_table((9, 1), (1, 9)))


def test_nothing_scored_has_no_correction() -> None:
    """Without a headline or without verdicts the corrected values are null with their reason."""
    tally = _tally([], known=[0.0, 1.0])
    corrected = corrected_headline(tally, {**_HEADLINE, "value": 0.5}, calibration_json(tally))
    assert corrected["ppi"] == {
        "value": None, "ci_lower": None, "ci_upper": None, "ci_level": 0.95, "ci_method": "none",
        "reason": "no answer was judged",
    }  # fmt: skip


@pytest.mark.parametrize(
    "tally",
    [_tally([], known=[1.0]), _table((1, 0), (0, 0)), _table((9, 1), (3, 7), more=(5, 5)), _tally([(0.3, 0.4)] * 3)],
)
def test_every_calibration_keeps_its_schema(tally: Tally) -> None:
    """Also without labels, with one, and with scores between 0 and 1."""
    found = calibration_json(tally)
    corrected = corrected_headline(tally, _headline(tally), found)
    content = {"run_id": "r", "benchmark": "b", "judge": None, **found, "corrected": corrected}
    text = json.dumps(content, allow_nan=False)
    validator = jsonschema.Draft202012Validator(load_schema("calibration"))
    assert list(validator.iter_errors(json.loads(text))) == []


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [
        ({0.0: 100, 1.0: 900}, 40, {0.0: 10, 1.0: 30}),
        ({0.0: 3, 1.0: 900}, 40, {0.0: 3, 1.0: 37}),
        ({0.0: 5, 1.0: 5}, 200, {0.0: 5, 1.0: 5}),
        ({0.0: 5, 1.0: 500}, 1, {0.0: 0, 1.0: 1}),
    ],
)
def test_rare_grades_get_more_than_their_share(sizes: dict[float, int], n: int, expected: dict[float, int]) -> None:
    """By the root of the size, at least 10 of each, never more than there are."""
    assert allocate(sizes, n) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("1", 1.0), ("C", 1.0), ("c ", 1.0), ("Yes", 1.0), ("correct", 1.0), ("TRUE", 1.0), (True, 1.0), (1, 1.0),
        ("0", 0.0), ("I", 0.0), ("no", 0.0), ("incorrect", 0.0), (False, 0.0), (0.0, 0.0), ("0.0", 0.0),
        ("", None), ("  ", None), (None, None),
    ],
)  # fmt: skip
def test_labels_of_a_binary_judge(label: object, expected: float | None) -> None:
    """Words, letters, numbers and JSON values; empty is not a label."""
    assert scale_of({"C": 1.0, "I": 0.0}, [0.0, 1.0], ["binary_qa"]).read(label) == expected


@pytest.mark.parametrize("label", ["2", "0.5", "P", "maybe", "-1", "nan", "inf", "1e9", "½"])
def test_labels_off_the_binary_scale_are_refused(label: str) -> None:
    """What is neither right nor wrong is an error that says what is possible."""
    with pytest.raises(ValueError, match=r"not on the judge's scale: 1 or 0 \(C or I"):
        scale_of({"C": 1.0, "I": 0.0}, [0.0, 1.0], ["binary_qa"]).read(label)


@pytest.mark.parametrize(
    ("grades", "scores", "template", "given"),
    [
        ({"4": 0.75, "5": 1.0}, [0.75, 1.0], "likert_5", {"4": 0.75, "1": 0.0, 3: 0.5, "5": 1.0, "0": None, "C": None}),
        ({"2": 0.5, "3": 1.0}, [0.5, 1.0], "custom", {"1": 0.0, "2": 0.5, "3": 1.0, "4": None, "0": None}),
        ({"C": 1.0, "I": 0.0}, [0.0, 1.0], "binary_qa_partial", {"P": 0.5, "0.5": 0.5, "C": 1.0, "7": None}),
        ({"CORRECT": 1.0}, [1.0], "simpleqa", {"not_attempted": 0.0, "INCORRECT": 0.0, "i": 0.0, "0.5": None}),
        ({"SAFE": 1.0}, [1.0], "safety", {"unsafe": 0.0, "safe": 1.0, "no": 0.0, "x": None}),
        ({}, [0.2, 0.9], "rubric", {"0.35": 0.35, 1: 1.0, "1.5": None, "-0.2": None}),
        ({"1.0": 0.0, "2.0": 1.0}, [0.0, 1.0], "custom", {"1.0": 0.0, 2.0: 1.0, "3.0": None}),
        ({"A": 1.0, "B": 0.5}, [1.0, 0.5], "custom", {"a": 1.0, "b": 0.5, "0.25": 0.25, "D": None}),
    ],
)
def test_labels_of_other_scales(
    grades: dict[str, float], scores: list[float], template: str, given: dict[str, float | None]
) -> None:
    """Grades of the judge come first, also those it never gave; else numbers stand for themselves."""
    scale = scale_of(grades, scores, [template])
    for label, expected in given.items():
        if expected is None:
            with pytest.raises(ValueError, match="not on the judge's scale"):
                scale.read(label)
        else:
            assert scale.read(label) == pytest.approx(expected)


def test_a_grade_whose_labels_all_agree_is_not_certain() -> None:
    """Thirty labels of nine tenths of the answers leave three in a hundred of these open, in each share that rests on them."""
    found = calibration_json(_table((30, 0), (6, 24), more=(870, 70)))
    raw, specificity = found["agreement"]["raw"], found["specificity"]
    stratum = wilson_interval(30, 30)
    assert stratum.lower is not None
    assert raw["ci_lower"] < 0.9 * stratum.lower + 0.1 * 0.8
    assert raw["n_effective"] < 80
    # With as many wrong ones among the rest as that interval leaves open: 0.08 of 0.08 + 0.9 · 0.11.
    assert specificity["value"] == 1.0
    assert specificity["ci_lower"] == pytest.approx(0.08 / (0.08 + 0.9 * (1 - stratum.lower)), abs=0.02)
    assert found["sensitivity"]["ci_lower"] > 0.95
