"""Of some metrics less is better: what another tool says of its own decides every comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel.apps.leaderboard.ranked_runs import standings_json
from nel.artifacts.importing.writers import import_results
from nel.comparison.compare import BenchmarkComparison, compare
from nel.comparison.flips import flips
from nel.comparison.floors import hold, read_floors
from nel.comparison.gate import gate
from nel.comparison.measures import Settings
from nel.comparison.reading import read_sides
from nel.decide.policy import Policy
from nel.decide.verdict import GateDecision
from nel.errors import UsageError
from tests.support.runs import read_json

TIME = "2026-11-20T10-00-00.123456"


def harness_output(folder: Path, rows: list[dict[str, float]], *, n_shot: int = 0, **of_task: Any) -> Path:
    """Write the samples and the results of a task, as lm-evaluation-harness does."""
    folder.mkdir()
    lines = [
        {"doc_id": number, "doc": {"q": f"q{number}"}, "target": "0", "arguments": [[f"q{number}", " x"]],
         "resps": [[[-1.0, False]]], "filtered_resps": [[-1.0, False]], "filter": "none",
         "metrics": list(row), **row}
        for number, row in enumerate(rows)
    ]  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"samples_bias_{TIME}.jsonl").write_text(text, encoding="utf-8")
    summary = {name: {"bias": value} for name, value in {"n-shot": n_shot, **of_task}.items()}
    (folder / f"results_{TIME}.json").write_text(json.dumps(summary), encoding="utf-8")
    return folder


def bias_output(folder: Path, shift: float) -> Path:
    """Write 120 scores of which less is better, as of crows_pairs."""
    rows = [{"likelihood_diff": number % 7 / 7 + shift} for number in range(120)]
    return harness_output(folder, rows, higher_is_better={"likelihood_diff": False})


@pytest.fixture
def less_and_more(tmp_path: Path) -> tuple[Path, Path]:
    return bias_output(tmp_path / "less", 0.0), bias_output(tmp_path / "more", 2.0)


def compared(baseline: Path, candidate: Path) -> BenchmarkComparison:
    sides = read_sides([str(baseline), str(candidate)])
    return compare(sides, Settings(), despite=frozenset()).candidates[0].benchmarks[0]


@pytest.mark.parametrize("is_imported", [False, True])
def test_more_of_what_should_be_less_is_worse(
    tmp_path: Path, less_and_more: tuple[Path, Path], is_imported: bool
) -> None:
    """The difference is the candidate's score less the baseline's as ever, and it has lost every question."""
    paths = list(less_and_more)
    if is_imported:
        for number, path in enumerate(less_and_more):
            paths[number] = tmp_path / f"run{number}"
            import_results(path, paths[number])
    found = compared(*paths)
    assert found.headline.tested is not None
    assert (found.headline.verdict, found.headline.tested.wins, found.headline.tested.losses) == ("worse", 0, 120)
    assert found.headline.tested.estimate == pytest.approx(2.0)
    assert found.headline.tested.lower <= 2.0 <= found.headline.tested.upper
    assert compared(*paths[::-1]).headline.verdict == "better"
    flip = next(flips(found, 1))
    assert flip.candidate_score > flip.baseline_score


@pytest.mark.parametrize(("direction", "decision"), [(None, GateDecision.NO_GO), ("higher_is_better", GateDecision.GO)])
def test_a_gate_takes_the_direction_of_the_results(
    less_and_more: tuple[Path, Path], direction: str | None, decision: GateDecision
) -> None:
    """A policy that says another one has the last word."""
    defaults = {"max_drop": 0.5} | ({} if direction is None else {"direction": direction})
    sides = read_sides([str(path) for path in less_and_more])
    decided = gate(*sides, Policy.model_validate({"defaults": defaults}), despite=frozenset())
    assert decided.decision is decision


def test_a_perplexity_is_not_the_score_of_a_sample(tmp_path: Path) -> None:
    """Where a task has a mean beside it, that is the headline, whichever stands first."""
    rows = [{"perplexity": -1.5, "acc": 1.0}, {"perplexity": -2.5, "acc": 0.0}]
    rules = [{"metric": "perplexity", "aggregation": "perplexity"}, {"metric": "acc", "aggregation": "mean"}]
    source = harness_output(tmp_path / "source", rows, configs={"metric_list": rules})
    import_results(source, tmp_path / "run")
    headline = read_json(tmp_path / "run" / "bias" / "metrics.json")["headline"]
    assert (headline["metric"], headline["value"]) == ("acc", 0.5)


def test_nothing_is_ranked_or_held_by_what_should_be_less(tmp_path: Path, less_and_more: tuple[Path, Path]) -> None:
    """A leaderboard and a floor would put the worst first, so both refuse, and name the metric."""
    sides = read_sides([str(path) for path in less_and_more])
    with pytest.raises(UsageError, match="less is better of likelihood_diff, and a leaderboard"):
        standings_json(sides)
    import_results(less_and_more[0], tmp_path / "run")
    with pytest.raises(UsageError, match="less is better of likelihood_diff of bias"):
        hold(tmp_path / "run", read_floors(["likelihood_diff=0.1"]))
