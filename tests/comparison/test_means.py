"""Means over several benchmarks of two runs: compared, decided on, and ranked as a whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nel import compare, evaluate, gate
from nel.apps.leaderboard.ranked_runs import standings_json
from nel.comparison.reading import read_sides
from nel.errors import OutputError
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import run_config

FEW, MANY = 20, 60
MEANS = [
    {"name": "suite", "benchmarks": ["suite/all", "few.py#a"], "weights": [1, 3]},
    {"name": "suite/all", "benchmarks": ["few.py", "many.py"]},
    {"name": "lacking", "benchmarks": ["many.py", "web"], "weights": [3, 1], "missing": {"web": "it needs a network"}},
]
BENCHMARK = """
from nel import benchmark, scorer

ROWS = [{{"id": str(n), "question": f"{name} {{n}}", "target": "2", "subject": "ab"[n % 2]}} for n in range({n})]

@benchmark(name="{name}", dataset=lambda: ROWS, prompt="{{question}}"{options})
@scorer
def {name}(sample):
    return sample.response == sample.target
"""


def _model(wrong_every: int) -> Any:
    def script(call: Call, _: int) -> Reply:
        number = int(call.text.split()[-1])
        return answer("3" if number % wrong_every == 0 else "2")

    return script


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Run a baseline, one that is as good, and one that is worse, each with three means."""
    folder = tmp_path_factory.mktemp("means")
    # The one names its category, of the other the field is found.
    for name, n, options in (("few", FEW, ""), ("many", MANY, ', category_field="subject"')):
        (folder / f"{name}.py").write_text(BENCHMARK.format(name=name, n=n, options=options))
    directories = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, wrong_every in (("base", 10), ("same", 10), ("worse", 2)):
            with scripted(_model(wrong_every), models=["m"]) as endpoint:
                result = evaluate(
                    run_config(endpoint.url, ["few.py", "many.py"], folder / "out", run_id=name, aggregates=MEANS)
                )
            directories[name] = result.run_dir
        yield directories


def _means(document: Any) -> dict[str, Any]:
    return {row["aggregate"]: row for row in document["candidates"][0]["aggregates"]}


def test_a_mean_is_compared_by_the_pairs_of_its_members(runs: dict[str, Path]) -> None:
    """Its sides are those of aggregates.json, its difference is theirs, and a question of two members counts once."""
    result = compare(runs["base"], runs["worse"])
    whole, lacking, part = _means(result.document).values()
    sides = [json.loads((runs[name] / "aggregates.json").read_text())["aggregates"] for name in ("base", "worse")]
    values = [{row["aggregate"]: row["value"] for row in rows} for rows in sides]
    for row in (whole, part):
        before, after = (of_side[row["aggregate"]] for of_side in values)
        difference = row["headline"]["difference"]
        assert (row["headline"]["baseline"], row["headline"]["candidate"]) == pytest.approx((before, after))
        assert difference["value"] == pytest.approx(after - before)
        assert difference["ci_lower"] < difference["value"] < difference["ci_upper"] < 0
        assert difference["n"] == FEW + MANY
    assert (whole["is_part"], part["is_part"]) == (False, True)
    assert result.verdicts["worse"]["suite"] == "worse"
    assert lacking["headline"]["difference"] is None
    assert lacking["headline"]["reason"] == "without web: it needs a network"
    bounds = lacking["headline"]["bounds"]
    assert (bounds["lower"], bounds["upper"]) == pytest.approx((0.75 * -0.4 - 0.25, 0.75 * -0.4 + 0.25))


def test_a_mean_alone_can_be_compared(runs: dict[str, Path]) -> None:
    (candidate,) = compare(runs["base"], runs["worse"], benchmarks=["lacking"]).document["candidates"]
    assert [row["benchmark"] for row in candidate["benchmarks"]] == ["many"]
    assert [row["aggregate"] for row in candidate["aggregates"]] == ["lacking"]


def test_a_gate_judges_wholes_and_what_is_missing_never_passes(runs: dict[str, Path]) -> None:
    """A part has a say where the policy names it; a whole lacks it where the policy says so."""
    policy: dict[str, Any] = {"defaults": {"max_drop": 0.3}, "min_pairs": 2}
    document = gate(runs["base"], runs["same"], policy=policy).document
    rows = {row["benchmark"]: row for row in document["benchmarks"]}
    assert (document["decision"], rows["suite"]["status"], rows["suite/all"]["tier"]) == (
        "INCONCLUSIVE",
        "pass",
        "advisory",
    )
    assert (rows["lacking"]["status"], rows["lacking"]["reasons"]) == (
        "inconclusive",
        ["without web: it needs a network"],
    )
    policy["benchmarks"] = {"lacking": {"tier": "advisory"}, "suite/all": {"tier": "critical"}}
    decision = gate(runs["base"], runs["same"], policy=policy)
    assert decision.decision == "GO"
    assert "lacking: without web: it needs a network" in repr(decision)
    worse = gate(runs["base"], runs["worse"], policy={**policy, "defaults": {"max_drop": 0.02}}).document
    assert {row["benchmark"]: row["status"] for row in worse["benchmarks"]}["suite"] == "breach"


def test_a_gate_misses_a_mean_that_the_candidate_does_not_have(runs: dict[str, Path], tmp_path: Path) -> None:
    """As it misses a benchmark; and a run whose file of means is gone is refused."""
    other = shutil.copytree(runs["same"], tmp_path / "same")
    document = json.loads((other / "aggregates.json").read_text())
    document["aggregates"] = document["aggregates"][1:]
    (other / "aggregates.json").write_text(json.dumps(document))
    rows = gate(runs["base"], other, policy={"defaults": {"max_drop": 0.3}}).document["benchmarks"]
    assert {row["benchmark"]: row["status"] for row in rows}["suite"] == "missing"
    (other / "aggregates.json").unlink()
    with pytest.raises(OutputError, match=r"has no aggregates.json.*nel report"):
        gate(runs["base"], other, policy={"defaults": {"max_drop": 0.3}})


def test_a_mean_is_held_against_a_floor(runs: dict[str, Path], tmp_path: Path) -> None:
    """By the interval that its members give; an edited one is refused, and one that lacks a member cannot pass."""
    decision = gate(runs["base"], floors={"suite:accuracy": 0.45})
    (row,) = decision.document["benchmarks"]
    (written, *_) = json.loads((runs["base"] / "aggregates.json").read_text())["aggregates"]
    assert (decision.decision, row["value"]) == ("GO", written["value"])
    assert (row["checks"][0]["lower"], row["checks"][0]["upper"]) == pytest.approx(
        (written["ci_lower"], written["ci_upper"])
    )
    lacking = gate(runs["base"], floors={"lacking:accuracy": 0.3})
    assert (lacking.decision, lacking.document["benchmarks"][0]["reasons"]) == (
        "INCONCLUSIVE",
        ["without web: it needs a network"],
    )
    other = shutil.copytree(runs["base"], tmp_path / "base")
    text = (other / "aggregates.json").read_text()
    (other / "aggregates.json").write_text(text.replace(str(written["ci_lower"]), "0.89"))
    with pytest.raises(OutputError, match=r"ci_lower of suite is 0\.89"):
        gate(other, floors={"suite:accuracy": 0.45})


def test_runs_are_ranked_on_a_mean(runs: dict[str, Path]) -> None:
    """By their own values; where a member is missing the order stays open."""
    sides = read_sides([str(runs["base"]), str(runs["worse"])])
    boards = {board["name"]: board for board in standings_json(sides)["benchmarks"]}
    assert [rank["rank"] for rank in boards["suite"]["ranks"]] == [1, 2]
    assert [rank["rank_upper"] for rank in boards["suite"]["ranks"]] == [1, 2]
    assert [rank["rank"] for rank in boards["lacking"]["ranks"]] == [None, None]
    assert boards["lacking"]["pairs"][0]["reason"] == "without web: it needs a network"
