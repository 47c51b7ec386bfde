"""`nel power`: plans from assumptions, one run or two, with what they take; and all that plans nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from nel.decide import Pilot, Test, Variances, mcnemar_power, questions_needed
from nel.metrics.added_question import added_question_ends
from tests.support.compared import line, lines, write_run


def power(*arguments: str | Path) -> dict[str, Any]:
    """Run `nel power --json` and return the plan."""
    done = CliRunner().invoke(app, ["power", *map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refused(*arguments: str | Path) -> str:
    """Run `nel power`, expect exit code 2, and return what it said."""
    done = CliRunner().invoke(app, ["power", *map(str, arguments)])
    assert done.exit_code == 2, done.output
    return done.stderr


def repeated(scores: np.ndarray[Any, Any], **given: Any) -> list[dict[str, Any]]:
    """Return lines of a matrix with a row per question and a column per repeat."""
    return [
        line(idx, float(score), repeat=repeat, **given)
        for idx, row in enumerate(scores.tolist())
        for repeat, score in enumerate(row)
    ]


def coins(n: int, share: float, seed: int) -> list[float]:
    """Return scores of 0 and 1."""
    return [float(one) for one in np.random.default_rng(seed).random(n) < share]


def with_runtime(
    run_dir: Path, *, completed: int, elapsed: float, cost: float | None = None, requests: int = 1
) -> Path:
    """Write what the answers of a run took, each so many requests."""
    runtime = {
        "elapsed_seconds": elapsed,
        "n_answered": completed // requests,
        "requests": {"completed": completed},
        "tokens": {"prompt": 300 * completed, "completion": 200 * completed, "reported": completed},
        "cost": {"total": cost},
    }
    (run_dir / "quiz" / "runtime_stats.json").write_text(json.dumps(runtime), encoding="utf-8")
    return run_dir


@pytest.mark.parametrize(("repeats", "expected"), [(1, 1742), (10, 1041)])
def test_assumptions_give_the_published_numbers(repeats: int, expected: int) -> None:
    """A fifth discordant: 1,742 questions once; with a ninth between questions, 1,041 with ten repeats, since one question more costs some."""
    share = "0.2" if repeats == 1 else str(1 / 9)
    found = power("--discordant", share, "--effect", "0.03", "--repeats", str(repeats))
    assert found["plans"][0]["questions"] == expected


def test_two_runs_tell_the_discordant_share(tmp_path: Path) -> None:
    """Scores of 0 and 1 asked once: the share of questions on which the runs differ plans McNemar's test."""
    before, after = coins(400, 0.6, 1), coins(400, 0.65, 2)
    runs = write_run(tmp_path / "a", lines(before)), write_run(tmp_path / "b", lines(after))
    share = float(np.mean(np.array(before) != np.array(after)))
    found = power(*runs, "--effect", "0.03")
    assert found["variances"]["discordant"] == pytest.approx(share)
    assert found["plans"][0]["questions"] == questions_needed(lambda n: mcnemar_power(0.03, share, n), Test())
    assert found["plans"][0]["is_available"] is False
    assert found["source"]["questions"] == 400
    assert any("--repeats 4" in note for note in found["notes"])


def test_repeats_split_the_variance(tmp_path: Path) -> None:
    """With repeats on both sides the plan's variances are those the scores were drawn with."""
    rng = np.random.default_rng(3)
    base = rng.normal(0.5, 0.1, size=(3000, 1))
    before = base + rng.normal(0, 0.3, size=(3000, 3))
    after = base + rng.normal(0.02, 0.2, size=(3000, 1)) + rng.normal(0, 0.4, size=(3000, 2))
    runs = write_run(tmp_path / "a", repeated(before)), write_run(tmp_path / "b", repeated(after))
    found = power(*runs, "--effect", "0.02", "--repeats", "1", "--repeats", "5")
    variances = found["variances"]
    assert [variances[name] for name in ("between", "within_baseline", "within_candidate")] == pytest.approx(
        [0.04, 0.09, 0.16], rel=0.08
    )
    assert variances["discordant"] is None
    assumed = Variances(**{name: variances[name] for name in Variances.__dataclass_fields__})
    pilot = Pilot(variances=assumed)
    assert [one["questions"] for one in found["plans"]] == [pilot.questions_needed(0.02, k, Test()) for k in (1, 5)]


def test_one_run_assumes_a_correlation_and_says_so(tmp_path: Path) -> None:
    """Half as correlated, twice as variable: one run plans with what is said of the other."""
    run = write_run(tmp_path / "a", lines(coins(300, 0.5, 4)))
    default, close = power(run), power(run, "--correlation", "0.75")
    assert default["variances"]["between"] == pytest.approx(2 * close["variances"]["between"])
    assert "a correlation of 0.5" in default["notes"][0]
    assert default["variances"]["between"] == pytest.approx(0.25, rel=0.02)


def test_plans_have_tokens_money_and_hours(tmp_path: Path) -> None:
    """What an answer took in the earlier run is what it is planned to take, and prices may be given."""
    run = with_runtime(write_run(tmp_path / "a", lines(coins(200, 0.5, 6))), completed=200, elapsed=3600.0, cost=0.4)
    (plan,) = power(run, "--repeats", "2")["plans"]
    answers = plan["answers"]
    assert answers == 2 * plan["questions"]
    assert (plan["prompt_tokens"], plan["completion_tokens"]) == (300 * answers, 200 * answers)
    assert (plan["cost"], plan["hours"]) == pytest.approx((0.002 * answers, answers / 200))
    episodes = with_runtime(run, completed=200, elapsed=3600.0, cost=0.4, requests=4)
    (of_steps,) = power(episodes, "--repeats", "2")["plans"]
    assert of_steps["prompt_tokens"] == 4 * 300 * answers
    assert (of_steps["cost"], of_steps["hours"]) == pytest.approx((0.008 * answers, answers / 50))
    run = with_runtime(run, completed=200, elapsed=3600.0, cost=0.4)
    priced = power(run, "--repeats", "2", "--price-input", "10", "--price-output", "20")
    assert priced["plans"][0]["cost"] == pytest.approx(0.007 * answers)
    assert power(write_run(tmp_path / "b", lines(coins(200, 0.5, 6))))["plans"][0]["cost"] is None


def test_terminal_and_picture(tmp_path: Path) -> None:
    """The table and the curve mark the planned number; the picture is one well-formed SVG without scripts or links."""
    svg = tmp_path / "curve.svg"
    done = CliRunner().invoke(
        app, ["power", "--discordant", "0.2", "--effect", "0.03", "--questions", "1319", "--svg", str(svg)]
    )
    assert done.exit_code == 0, done.output
    assert "1,742 *" in done.stdout
    assert "* more questions than the 1,319 there are" in done.stdout
    (marked,) = (text for text in done.stdout.splitlines() if text.endswith("←"))
    assert marked.split()[0] == "1,742"
    root = ElementTree.fromstring(svg.read_text(encoding="utf-8"))  # noqa: S314 - written above
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "title", "rect", "line", "text", "polyline"}
    assert "href" not in svg.read_text(encoding="utf-8")
    again = tmp_path / "again.svg"
    CliRunner().invoke(
        app, ["power", "--discordant", "0.2", "--effect", "0.03", "--questions", "1319", "--svg", str(again)]
    )
    assert again.read_bytes() == svg.read_bytes()


def test_what_plans_nothing_is_one_clear_line(tmp_path: Path) -> None:
    """Missing, unfinished, equal or ambiguous runs and numbers that are none: exit 2, and what to do."""
    run = write_run(tmp_path / "a", lines(coins(50, 0.5, 1)))
    same = write_run(tmp_path / "b", lines(coins(50, 0.5, 1)))
    both = write_run(tmp_path / "c", {"quiz": lines(coins(9, 0.5, 1)), "exam": lines(coins(9, 0.5, 1))})
    one = write_run(tmp_path / "d", lines([1.0]))
    right = write_run(tmp_path / "e", lines([1.0] * 20))
    half = write_run(tmp_path / "f", lines(coins(9, 0.5, 1)), complete=False)
    assert "give the directory of an earlier run" in refused()
    assert "there is no" in refused(tmp_path / "nothing")
    assert "not finished" in refused(half)
    assert "differ on no question" in refused(run, same)
    assert "one run or two" in refused(run, same, both)
    assert "2 benchmarks; choose one with --bench: exam, quiz" in refused(both)
    assert 'no benchmark "quizz"; did you mean "quiz"?' in refused(both, "--bench", "quizz")
    assert "at least two" in refused(one)
    assert "do not differ on any question" in refused(right)
    assert "effect must be above 0" in refused(run, "--effect", "0")
    assert "effect must be above 0" in refused("--discordant", "0.1", "--effect", "0")
    assert "too small to be found" in refused(run, "--effect", "1e-9")
    assert "the power is the larger" in refused(run, "--power", "0.1", "--alpha", "0.2")
    assert "give both --price-input and --price-output" in refused(run, "--price-input", "1")
    assert "there is no directory" in refused(run, "--svg", tmp_path / "none" / "curve.svg")
    assert "prices need tokens" in refused(run, "--price-input", "1", "--price-output", "1")
    for output in (refused(run, same), refused(right)):
        assert output.count("\n") == 1


@pytest.mark.parametrize("given", [("--discordant", "0.2"), ("--score", "0.8"), ()])
def test_an_effect_in_points_is_refused(tmp_path: Path, given: tuple[str, ...]) -> None:
    runs = () if given else (write_run(tmp_path / "a", lines(coins(50, 0.7, 1))),)
    assert "scores from 0 to 1 cannot differ by 2; 0.02 is 2 points" in refused(*runs, *given, "--effect", "2")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--score", "0.5", "--within", "0.3"), "vary by 0.25 at most"),
        (("--score", "0.01", "--discordant", "0.5"), "differ on 0.02 of the questions at most"),
        (("--discordant", "0.05", "--within", "0.1"), "--discordant cannot be 0.05"),
        (("--discordant", "0.2", "--correlation", "0.3"), "leave out --correlation"),
    ],
)
def test_assumptions_that_contradict_each_other_are_refused(given: tuple[str, ...], said: str) -> None:
    """A share of 5 % that are discordant was planned with answers that are discordant on 20 %."""
    assert said in refused(*given)


def test_what_a_run_says_is_not_assumed_in_vain(tmp_path: Path) -> None:
    """--score with a run and --correlation with two had no effect."""
    one = write_run(tmp_path / "a", lines(coins(50, 0.7, 1)))
    other = write_run(tmp_path / "b", lines(coins(50, 0.7, 2)))
    for option, value in (("--score", "0.9"), ("--discordant", "0.2")):
        assert "are for a plan without a run" in refused(one, option, value)
    assert "two runs tell how alike they are" in refused(one, other, "--correlation", "0.1")
    assert "at most" in refused(one, "--within", "0.26")


def test_an_assumed_discordant_share_plans_repeats_too() -> None:
    """With repeats the interval of one question more decides, which finds the effect in four of five comparisons of the
    size that is planned; a normal interval would promise it of a tenth fewer.
    """
    found = power("--discordant", "0.3", "--within", "0.1", "--effect", "0.05")
    assert found["variances"]["between"] == pytest.approx(0.1)
    planned = [one["questions"] for one in found["plans"]]
    assert planned == [questions_needed(lambda n: mcnemar_power(0.05, 0.3, n), Test()), 671, 515, 437]
    rng = np.random.default_rng(1)
    spread = (0.1 + 0.2 / 4) ** 0.5
    draws = [rng.normal(0.05, spread, 515).clip(-1, 1) for _ in range(500)]
    assert sum(added_question_ends(values, low=-1.0)[0] > 0 for values in draws) / 500 == pytest.approx(0.8, abs=0.04)
    large = power("--discordant", "0.02", "--within", "0.01", "--effect", "0.1")
    raised = Variances(between=0.08, within_baseline=0.01, within_candidate=0.01)
    pilot = Pilot(variances=raised, largest=1.0)
    assert large["plans"][1]["questions"] == pilot.questions_needed(0.1, 2, Test()) == 97
