"""A decision says which end it rests on, and what would decide where nothing is decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.comparison.test_units import ran
from tests.support.compared import line, lines, write_run
from tests.support.runs import read_json


def held(place: Path, rows: list[dict[str, Any]], floor: str) -> tuple[int, str, dict[str, Any]]:
    """Hold a run with these lines against a floor; return exit code, output and the check of decision.json."""
    run_dir = write_run(place / "run", rows)
    code, output = ran("gate", run_dir, "--fail-under", floor, "-o", place / "out")
    [benchmark] = read_json(place / "out" / "decision.json")["benchmarks"]
    [check] = benchmark["checks"]
    return code, " ".join(output.split()), check


@pytest.mark.parametrize(
    ("n_right", "floor", "code", "end"),
    [(30, 0.8, 0, "the lower end of"), (10, 0.9, 4, "the upper end of"), (28, 0.9, 5, "neither end of")],
)
def test_a_decision_says_which_end_it_rests_on(tmp_path: Path, n_right: int, floor: float, code: int, end: str) -> None:
    """GO rests on the lower end, NO-GO on the upper one, and what is inconclusive on neither."""
    rows = lines([float(place < n_right) for place in range(30)])
    found, output, _ = held(tmp_path, rows, f"accuracy={floor}")
    assert (found, f"decided on {end} " in output) == (code, True), output


def test_wilsons_upper_end_near_one_decides_nothing_of_few_questions(tmp_path: Path) -> None:
    """8 of 10: Wilson's upper end is 94.33 %, that of one question more 97.48 %, and 95 % lies between them."""
    rows = lines([1.0] * 8 + [0.0] * 2)
    code, _, check = held(tmp_path, rows, "accuracy=0.95")
    assert (code, check["status"], check["upper"]) == (5, "inconclusive", pytest.approx(0.987768, abs=1e-6))
    assert check["method"] == "wilson, upper end added_question"


def test_students_t_of_few_questions_decides_nothing(tmp_path: Path) -> None:
    """Scores from 1 to 10 have no bounds: 99 questions are inconclusive and 100 are not."""
    for n, code in ((99, 5), (100, 0)):
        grades = [float(place % 10 + 1) for place in range(n)]
        rows = [line(place, one, scoring_details={"metrics": {"score": one}}) for place, one in enumerate(grades)]
        found, output, _ = held(tmp_path / str(n), rows, "score=3")
        assert (found, "no decision rests with 99 questions" in output) == (code, n == 99), output


@pytest.mark.parametrize(("floor", "n"), [(0.95, 72), (0.97, 121), (0.99, 365)])
def test_the_questions_that_would_decide_are_printed(tmp_path: Path, floor: float, n: int) -> None:
    """30 questions with four right answers each show no score above 88.57 %."""
    rows = [line(place, 1.0, repeat=repeat) for place in range(30) for repeat in range(4)]
    code, output, check = held(tmp_path, rows, f"accuracy={floor}")
    assert (code, check["lower"]) == (5, pytest.approx(0.885678, abs=1e-6))
    assert f"it would pass with {n} questions" in output


def test_a_floor_that_more_questions_cannot_reach_names_no_number(tmp_path: Path) -> None:
    """What an unscored answer could change is not known of scores without bounds, however many questions there are."""
    grades = [None, *(float(place % 10 + 1) for place in range(1, 120))]
    rows = [line(place, one, scoring_details={"metrics": {"score": one}}) for place, one in enumerate(grades)]
    code, output, _ = held(tmp_path, rows, "score=5.3")
    assert (code, "samples are unscored" in output, "it would pass with" in output) == (5, True, False), output


def test_a_gate_on_groups_that_are_alike_is_not_silent(tmp_path: Path) -> None:
    """Ten groups of thirty right answers count as ten questions, and the line of the decision says so."""
    rows = [line(place, 1.0, group=f"passage {place // 30}") for place in range(300)]
    code, output, check = held(tmp_path, rows, "accuracy=0.97")
    assert (code, check["lower"]) == (5, pytest.approx(1 - 0.302521, abs=1e-6))
    assert "each of 10 groups counts as one question" in output


def test_a_gate_of_few_groups_is_not_silent(tmp_path: Path) -> None:
    """Two answers of 600 changed: 12 groups of fifty do not exclude that a group is lost, and the line says what would."""
    rewards = [float(place % 5 != 0) for place in range(600)]
    for name in ("a", "b"):
        changed = [1 - reward if name == "b" and place in (3, 90) else reward for place, reward in enumerate(rewards)]
        rows = [line(place, reward, group=f"passage {place // 50}") for place, reward in enumerate(changed)]
        write_run(tmp_path / name, rows)
    (tmp_path / "policy.yaml").write_text("defaults: {max_drop: 0.05}\n", encoding="utf-8")
    code, output = ran("gate", tmp_path / "a", tmp_path / "b", "--policy", tmp_path / "policy.yaml", "-o", tmp_path)
    said = " ".join(output.split())
    assert (code, "12 groups are few" in said, "it would pass with 3,107 questions" in said) == (5, True, True), output


@pytest.mark.parametrize(("repeats", "lost", "n"), [(1, 0, 73), (4, 0, 72), (1, 1, None)])
def test_the_questions_that_would_decide_on_a_difference_are_printed(
    tmp_path: Path, repeats: int, lost: int, n: int | None
) -> None:
    """30 questions without a difference do not exclude a drop of 5 points; one that is lost leaves more than the margin open."""
    for name in ("a", "b"):
        rows = [
            line(place, float(name == "a" or place >= 2 * lost), repeat=repeat)
            for place in range(30)
            for repeat in range(repeats)
        ]
        write_run(tmp_path / name, rows)
    (tmp_path / "policy.yaml").write_text("defaults: {max_drop: 0.05}\n", encoding="utf-8")
    code, output = ran("gate", tmp_path / "a", tmp_path / "b", "--policy", tmp_path / "policy.yaml", "-o", tmp_path)
    said = " ".join(output.split())
    assert (code, "it would pass with" in said, f"it would pass with {n} questions" in said) == (5, bool(n), bool(n)), (
        output
    )
