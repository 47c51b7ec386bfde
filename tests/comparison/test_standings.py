"""Runs ranked by their scores: what is claimed of an order, and what stays open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nel.apps.leaderboard.ranked_runs import OVERALL, standings_json
from nel.cli.app import app
from nel.comparison.reading import read_sides
from nel.errors import EXIT_STOPPED_EARLY, UsageError
from tests.support.compared import lines, write_run
from tests.support.viewed_run import build_viewed_run

N = 60


def _rewards(n_right: int, n_unscored: int = 0) -> list[float | None]:
    scored = [float(idx < n_right) for idx in range(N - n_unscored)]
    return [*scored, *[None] * n_unscored]


def _board(tmp_path: Path, runs: dict[str, Any], **settings: Any) -> dict[str, Any]:
    for name, results in runs.items():
        write_run(tmp_path / name, results)
    return standings_json(read_sides([str(tmp_path / name) for name in runs]), **settings)


def _spans(benchmark: dict[str, Any]) -> list[tuple[int, int]]:
    return [(one["rank_lower"], one["rank_upper"]) for one in benchmark["ranks"]]


def test_orders_that_are_certain_make_ranks(tmp_path: Path) -> None:
    """A run that is clearly worse is last, and two that differ on one sample share their ranks."""
    board = _board(tmp_path, {name: lines(_rewards(n)) for name, n in (("a", 50), ("b", 49), ("c", 20))})
    (quiz,) = board["benchmarks"]
    assert [(one["rank"], round(one["score"] * N)) for one in quiz["ranks"]] == [(1, 50), (2, 49), (3, 20)]
    assert _spans(quiz) == [(1, 2), (1, 2), (3, 3)]
    assert [round(one["difference"] * N) for one in quiz["pairs"]] == [1, 30, 29]
    assert board["n_tests"] == 6


def test_p_values_are_adjusted_over_the_table(tmp_path: Path) -> None:
    """Seven samples all one way are certain for one pair of runs alone, and no more among six pairs."""
    alone = _board(tmp_path / "two", {name: lines(_rewards(n)) for name, n in (("a", 37), ("b", 30))})
    assert _spans(alone["benchmarks"][0]) == [(1, 1), (2, 2)]
    four = {name: lines(_rewards(n)) for name, n in (("a", 37), ("b", 30), ("c", 33), ("d", 33))}
    assert _spans(_board(tmp_path / "four", four)["benchmarks"][0]) == [(1, 4)] * 4


def test_unscored_samples_that_could_turn_an_order_keep_it_open(tmp_path: Path) -> None:
    """An order is claimed only where it holds with every unscored sample right and with every one wrong."""
    board = _board(tmp_path, {"a": lines(_rewards(40)), "b": lines(_rewards(30, n_unscored=20))})
    (pair,) = board["benchmarks"][0]["pairs"]
    assert _spans(board["benchmarks"][0]) == [(1, 2), (1, 2)]
    assert (pair["p_left_better"], pair["p_right_better"]) == (1.0, 1.0)
    assert "unscored" in pair["reason"]


def test_mean_of_benchmarks_is_ranked_too(tmp_path: Path) -> None:
    """With several benchmarks their mean has ranks; what only some runs have is left out."""
    runs = {
        name: {
            "quiz": lines(_rewards(n)),
            "maths": lines(_rewards(n + 5)),
            **({"own": lines(_rewards(1))} if name == "a" else {}),
        }
        for name, n in (("a", 45), ("b", 25))
    }
    board = _board(tmp_path, runs)
    assert [one["name"] for one in board["benchmarks"]] == ["maths", "quiz", OVERALL]
    assert _spans(board["benchmarks"][2]) == [(1, 1), (2, 2)]
    assert board["benchmarks"][2]["pairs"][0]["difference"] == pytest.approx(20 / N)


def test_the_mean_of_benchmarks_is_tested_by_flips_of_all_their_questions(tmp_path: Path) -> None:
    """Five questions won on two benchmarks of the same size are ten of ten flips: 2 / 1024, halved for one side; Student's t
    took its doubt from the spread that was seen.
    """
    rewards = {"a": [1.0] * 30, "b": [0.0] * 5 + [1.0] * 25}
    board = _board(tmp_path, {run: {"quiz": lines(one), "maths": lines(one)} for run, one in rewards.items()})
    (pair,) = board["benchmarks"][2]["pairs"]
    n_tests = board["n_tests"]
    assert pair["p_left_better"] == pytest.approx(n_tests / 1024)
    assert pair["difference"] == pytest.approx(5 / 30)


def test_a_mean_is_ordered_only_where_compare_decides_it(tmp_path: Path) -> None:
    """Ten questions on which nothing differs leave half of the mean open, however many others were won: the flips alone would
    say p = 0.0005, and the interval of the mean has harm.
    """
    rewards = {"a": [1.0] * 60, "b": [0.0] * 12 + [1.0] * 48}
    board = _board(
        tmp_path, {run: {"quiz": lines(of_run), "small": lines([1.0] * 10)} for run, of_run in rewards.items()}
    )
    assert {one["name"]: _spans(one) for one in board["benchmarks"]} == {
        "quiz": [(1, 1), (2, 2)],
        "small": [(1, 2), (1, 2)],
        OVERALL: [(1, 2), (1, 2)],
    }


def test_runs_that_may_not_be_compared_are_refused(tmp_path: Path) -> None:
    """One run alone, nothing in common, and another prompt are one line each."""
    write_run(tmp_path / "a", lines(_rewards(30)))
    write_run(tmp_path / "b", {"other": lines(_rewards(30))})
    write_run(tmp_path / "c", lines(_rewards(30)), fields={"prompt.sha256": "q" * 64, "system_prompt": "x"})
    for names, words in ((("a",), "at least two"), (("a", "b"), "no benchmark in common"), (("a", "c"), "prompt")):
        with pytest.raises(UsageError, match=words) as caught:
            standings_json(read_sides([str(tmp_path / name) for name in names]))
        assert "\n" not in str(caught.value)


def test_command_prints_tables_and_writes_a_page(tmp_path: Path) -> None:
    """The terminal, the page and JSON have the same ranks; labels are escaped in the page."""
    for name, n in (("<b>", 50), ("weak", 10)):
        write_run(tmp_path / name, lines(_rewards(n)))
    run, sides = CliRunner(), [str(tmp_path / "<b>"), str(tmp_path / "weak")]
    printed = run.invoke(app, ["leaderboard", *sides, "--html", str(tmp_path / "page.html")])
    assert printed.exit_code == 0, printed.stderr
    assert "2 – 2" in printed.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    document = json.loads(run.invoke(app, ["leaderboard", *sides, "--json"]).stdout)
    assert _spans(document["benchmarks"][0]) == [(1, 1), (2, 2)]
    assert run.invoke(app, ["leaderboard", sides[0]]).exit_code == 2


def test_a_run_of_a_matrix_that_is_not_finished_is_named_and_left_out(tmp_path: Path) -> None:
    """The others are ranked, and the exit code says that it is not the whole table; a run by itself is refused."""
    directory = tmp_path / "matrix"
    for name in "abc":
        build_viewed_run(directory / name, is_complete=name != "c", ended="done" if name != "c" else "SIGINT")
    matrix = {"config": {}, "runs": [{"name": name} for name in "abc"]}
    (directory / "matrix.json").write_text(json.dumps(matrix), encoding="utf-8")
    done = CliRunner().invoke(app, ["leaderboard", str(directory), "--json"])
    assert done.exit_code == EXIT_STOPPED_EARLY, done.output
    document = json.loads(done.stdout)
    assert [run["label"] for run in document["runs"]] == ["a", "b"]
    assert document["warnings"][0] == f"c is not finished and is not ranked; nel eval resume {directory}"
    done = CliRunner().invoke(app, ["leaderboard", *(str(directory / name) for name in "abc")])
    assert (done.exit_code, "is not finished" in done.stderr) == (2, True)
