"""A number in the wrong unit decides nothing: a margin of 2 that means two points would let every candidate pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from tests.support.compared import lines, write_run

GOOD = [float(place % 4 != 0) for place in range(400)]
BAD = [0.0] * 400
GRADES = [float(place % 10 + 1) for place in range(400)]


def ran(*arguments: str | Path) -> tuple[int, str]:
    """Run nel, and return its exit code and what it printed."""
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert "Traceback" not in done.output
    return done.exit_code, done.output


def gated(tmp_path: Path, policy: str) -> tuple[int, str]:
    """Gate a candidate that has everything wrong by a policy."""
    (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
    for name, rewards in (("a", GOOD), ("b", BAD)):
        if not (tmp_path / name).exists():
            write_run(tmp_path / name, lines(rewards))
    return ran("gate", tmp_path / "a", tmp_path / "b", "--policy", tmp_path / "policy.yaml")


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("defaults: {max_drop: 2}", "gives quiz a max_drop of 2: scores from 0 to 1 cannot differ by more than 1"),
        ("benchmarks: {quiz: {max_drop: 1.5}}", "0.015 is 1.5 points"),
        ("defaults: {max_drop: 1}", "one point is 0.01"),
        ("defaults: {max_drop: 2, max_relative_drop: 0.02}", "0.02 is 2 points"),
        ("defaults: {max_drop: 2, metric: correct, direction: lower_is_better}", "0.02 is 2 points"),
    ],
)
def test_a_drop_that_nothing_can_exceed_is_refused(tmp_path: Path, policy: str, words: str) -> None:
    """Every candidate would be GO."""
    code, output = gated(tmp_path, policy)
    assert code == 2
    assert words in output


def test_other_scores_have_other_margins(tmp_path: Path) -> None:
    """Grades from 1 to 10 may differ by 2."""
    left = write_run(tmp_path / "a", lines(GRADES))
    right = write_run(tmp_path / "b", lines([max(one - 1, 1.0) for one in GRADES]))
    (tmp_path / "policy.yaml").write_text("defaults: {max_drop: 2}", encoding="utf-8")
    assert ran("gate", left, right, "--policy", tmp_path / "policy.yaml")[0] == 0
    assert ran("compare", left, right, "--margin", "2")[0] == 0


@pytest.mark.parametrize(
    ("margin", "words"),
    [
        ("5", "margin 5: scores from 0 to 1 cannot differ by more than 1, so 5 says nothing; 0.05 is 5 points"),
        ("1", "one point is 0.01"),
        ("inf", '"inf" is not a finite number'),
        ("nan", "too small"),
    ],
)
def test_a_margin_that_makes_everything_equivalent_is_refused(tmp_path: Path, margin: str, words: str) -> None:
    """Also where it is none at all."""
    left, right = write_run(tmp_path / "a", lines(GOOD)), write_run(tmp_path / "b", lines(BAD))
    code, output = ran("compare", left, right, "--margin", margin)
    assert code == 2
    assert words in " ".join(output.split())


@pytest.mark.parametrize(
    ("floor", "words"),
    [("70", "accuracy lies between 0 and 1; 0.7 is 70 %"), ("-1", "accuracy lies between 0 and 1\n")],
)
def test_a_floor_outside_of_the_scale_is_refused(tmp_path: Path, floor: str, words: str) -> None:
    """Seventy would never be reached, and less than nothing always: refused before any run is read, so before one is made."""
    code, output = ran("gate", write_run(tmp_path / "a", lines(GOOD)), "--fail-under", f"accuracy={floor}")
    assert code == 2
    assert words in output
