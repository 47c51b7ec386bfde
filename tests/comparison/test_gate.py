"""A gate says GO only where harm beyond the margin is excluded, NO-GO where it is proven, and else INCONCLUSIVE."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nel.comparison.decision import Decision, breaches, decision_json
from nel.comparison.demands import Demand
from nel.comparison.fields import check_parts
from nel.comparison.gate import gate
from nel.comparison.measures import Settings
from nel.comparison.policy_file import read_policy
from nel.comparison.reading import read_sides
from nel.comparison.scores import Scores
from nel.decide.paired import PairedDesign
from nel.decide.policy import Policy
from nel.errors import ConfigError, UsageError
from tests.support.compared import CALIBRATION, JUDGING, lines, nemo_lines, write_nemo, write_run
from tests.support.schemas import check_schema

GOOD = [1.0] * 700 + [0.0] * 300
SAME = [*([0.0] * 3), *([1.0] * 697), *([1.0] * 3), *([0.0] * 297)]
BAD = [*([0.0] * 100), *([1.0] * 600), *([0.0] * 300)]


def decided(
    left: Path, right: Path, policy: dict[str, Any] | None = None, despite: tuple[str, ...] = ()
) -> tuple[str, dict[str, Any]]:
    """Return the decision's word and its JSON, which fits its schema."""
    baseline, candidate = read_sides([str(left), str(right)])
    demanded = Policy.model_validate(policy or {})
    found: Decision = gate(baseline, candidate, demanded, despite=check_parts(despite))
    document = decision_json(found, baseline=baseline, candidate=candidate, policy=demanded, despite=despite)
    check_schema(document, "decision")
    assert document["exit_code"] == {"GO": 0, "NO-GO": 4, "INCONCLUSIVE": 5}[document["decision"]]
    return document["decision"], document


def run(tmp_path: Path, name: str, rewards: Any, **given: Any) -> Path:
    rows = {key: lines(value) for key, value in rewards.items()} if isinstance(rewards, dict) else lines(rewards)
    return write_run(tmp_path / name, rows, **given)


@pytest.mark.parametrize(("after", "word"), [(SAME, "GO"), (BAD, "NO-GO"), (GOOD, "GO")])
def test_the_interval_decides(tmp_path: Path, after: list[float], word: str) -> None:
    """Within the margin with certainty: GO; beyond it with certainty: NO-GO."""
    found, document = decided(run(tmp_path, "a", GOOD), run(tmp_path, "b", after))
    assert (found, document["benchmarks"][0]["status"]) == (word, {"GO": "pass", "NO-GO": "breach"}[word])


def test_a_point_inside_the_margin_is_not_enough(tmp_path: Path) -> None:
    """Thirty samples without a difference show nothing about a margin of 1.5 points."""
    found, document = decided(run(tmp_path, "a", GOOD[::33]), run(tmp_path, "b", GOOD[::33]))
    assert found == "INCONCLUSIVE"
    assert document["benchmarks"][0]["measure"]["difference"]["value"] == 0


def test_advisory_benchmarks_have_no_say_and_alone_are_never_go(tmp_path: Path) -> None:
    """A breach of an advisory benchmark is shown; where nothing else is there, nothing is decided."""
    left, right = run(tmp_path, "a", {"x": GOOD, "y": GOOD}), run(tmp_path, "b", {"x": SAME, "y": BAD})
    found, document = decided(left, right, {"benchmarks": {"y": {"tier": "advisory"}}})
    assert (found, document["benchmarks"][-1]["status"]) == ("GO", "breach")
    found, document = decided(left, right, {"defaults": {"tier": "advisory"}})
    assert (found, "nothing was gated" in document["reasons"][0]) == ("INCONCLUSIVE", True)


def test_a_missing_benchmark_is_never_go(tmp_path: Path) -> None:
    """What one side does not have was not measured, whether the policy names it or not."""
    left, right = run(tmp_path, "a", {"x": GOOD, "y": GOOD}), run(tmp_path, "b", {"x": SAME})
    for policy in ({}, {"benchmarks": {"y": {"tier": "critical"}}}):
        found, document = decided(left, right, policy)
        assert found == "INCONCLUSIVE"
        assert {one["benchmark"]: one["status"] for one in document["benchmarks"]} == {"x": "pass", "y": "missing"}


def test_a_policy_may_name_what_neither_run_has_and_is_then_never_go(tmp_path: Path) -> None:
    """A policy of many benchmarks decides the others too; the name is reported with the nearest known one."""
    left, right = run(tmp_path, "a", GOOD), run(tmp_path, "b", SAME)
    found, document = decided(left, right, {"benchmarks": {"quizz": {}}})
    assert found == "INCONCLUSIVE"
    assert {one["benchmark"]: one["status"] for one in document["benchmarks"]} == {"quiz": "pass", "quizz": "missing"}
    assert 'did you mean "quiz"' in document["benchmarks"][1]["reasons"][0]


def test_an_unknown_metric_in_the_policy_is_an_error(tmp_path: Path) -> None:
    left, right = run(tmp_path, "a", GOOD), run(tmp_path, "b", SAME)
    with pytest.raises(ConfigError, match='the metric "f1" of quiz'):
        decided(left, right, {"defaults": {"metric": "f1"}})


def test_a_pair_alone_is_counted_in_the_singular(tmp_path: Path) -> None:
    """Its reason speaks of 1 pair."""
    sides = run(tmp_path, "a", [1.0, None, 1.0]), run(tmp_path, "b", [1.0, 1.0, None])
    _, document = decided(*sides, {"defaults": {"max_drop": 0.02}})
    assert "only 1 pair scored, fewer than 10" in document["benchmarks"][0]["reasons"]


def test_too_many_unscored_are_never_go(tmp_path: Path) -> None:
    """Unscored samples above the share of the policy cannot pass, and below it their bounds decide."""
    after: list[float | None] = [None if idx < 100 else reward for idx, reward in enumerate(SAME)]
    found, document = decided(run(tmp_path, "a", GOOD), run(tmp_path, "b", after))
    assert found == "INCONCLUSIVE"
    (reason,) = document["benchmarks"][0]["reasons"]  # and not with how many questions it would pass
    assert reason.startswith("100 of 1,000 pairs unscored")
    few: list[float | None] = [None if idx < 20 else reward for idx, reward in enumerate(SAME)]
    found, document = decided(run(tmp_path, "c", GOOD), run(tmp_path, "d", few), {"defaults": {"max_drop": 0.02}})
    assert (found, document["benchmarks"][0]["reasons"]) == (
        "INCONCLUSIVE",
        ["as it is, it would pass with 10,647 questions"],
    )
    assert decided(tmp_path / "c", tmp_path / "d", {"defaults": {"max_drop": 0.05}})[0] == "GO"


def test_half_of_the_samples_never_pass(tmp_path: Path) -> None:
    """A candidate with part of the samples is refused, and waved through it is never GO."""
    left, right = run(tmp_path, "a", GOOD), run(tmp_path, "b", GOOD[:900])
    with pytest.raises(UsageError, match="100 samples only in the baseline"):
        decided(left, right)
    found, document = decided(left, right, {"defaults": {"max_drop": 0.1}}, ("dataset",))
    assert (found, document["benchmarks"][0]["reasons"]) == ("INCONCLUSIVE", ["the sides differ in dataset"])


@pytest.mark.parametrize("part", ["scorer.rules", "judge.panel"])
def test_scores_of_unequal_scorers_are_never_go(tmp_path: Path, part: str) -> None:
    """Where the measure differs, a difference says nothing of the model."""
    left, right = run(tmp_path, "a", GOOD), run(tmp_path, "b", GOOD, fields={part: "other"})
    assert decided(left, right, {"defaults": {"max_drop": 0.1}}, (part.split(".", maxsplit=1)[0],))[0] == "INCONCLUSIVE"


def test_positions_alone_are_never_go(tmp_path: Path) -> None:
    """What was paired by position may be harm, and is never shown to be fine."""
    bare = [[{"problem_idx": idx, "reward": one} for idx, one in enumerate(rewards)] for rewards in (GOOD, BAD)]
    left, right = write_nemo(tmp_path / "a", bare[0]), write_nemo(tmp_path / "b", bare[0])
    assert decided(left, right, {"defaults": {"max_drop": 0.1}}, ("pairing",))[0] == "INCONCLUSIVE"
    assert decided(left, write_nemo(tmp_path / "c", bare[1]), {}, ("pairing",))[0] == "NO-GO"


def test_a_judge_that_failed_its_calibration_is_never_go(tmp_path: Path) -> None:
    """A judge whose calibration warns decides nothing, nor one that was never measured where the policy wants it."""
    warnings = [{"kind": "calibration", "text": "the judge is below chance"}]
    left, right = (
        run(tmp_path, "a", GOOD),
        run(tmp_path, "b", GOOD, judging={**JUDGING, "calibration": CALIBRATION}, warnings=warnings),
    )
    found, document = decided(left, right)
    assert (found, "below chance" in document["benchmarks"][0]["reasons"][0]) == ("INCONCLUSIVE", True)
    plain = run(tmp_path, "c", GOOD, judging=JUDGING)
    assert decided(left, plain)[0] == "GO"
    assert decided(left, plain, {"require_calibration": True})[0] == "INCONCLUSIVE"


def test_a_metric_that_failed_is_never_go(tmp_path: Path) -> None:
    """A metric that raised in a run gives no decision."""
    left, right = run(tmp_path, "a", GOOD), run(tmp_path, "b", GOOD, failed_metrics=["accuracy"])
    assert decided(left, right)[0] == "INCONCLUSIVE"


def test_the_relative_drop_is_decided_on_its_interval_too(tmp_path: Path) -> None:
    """A tenth of a low score is a small absolute drop: the relative limit finds it, unless the guard is above."""
    low = [1.0] * 1000 + [0.0] * 9000
    lower = [*([0.0] * 200), *([1.0] * 800), *([0.0] * 9000)]
    left, right = run(tmp_path, "a", low), run(tmp_path, "b", lower)
    policy: dict[str, Any] = {"max_drop": 0.05, "max_relative_drop": 0.1}
    assert decided(left, right, {"defaults": policy})[0] == "NO-GO"
    assert decided(left, right, {"defaults": {**policy, "relative_guard_below": 0.05}})[0] == "GO"


@pytest.mark.parametrize("n_changed", [0, 1, 3, 40])
def test_a_rate_of_errors_is_decided_as_the_rate_of_what_is_right(tmp_path: Path, n_changed: int) -> None:
    """The same answers counted the other way around: the same intervals, by the same method, and the same decision."""
    before, after = [1.0] * 300 + [0.0] * 100, [0.0] * n_changed + [1.0] * (303 - n_changed) + [0.0] * 97
    found = []
    for name, direction in (("right", "higher_is_better"), ("wrong", "lower_is_better")):
        sides = [[one if name == "right" else 1 - one for one in side] for side in (before, after)]
        left, right = run(tmp_path / name, "a", sides[0]), run(tmp_path / name, "b", sides[1])
        for limits in ({"max_drop": 0.03}, {"max_drop": 0.0}):
            word, document = decided(left, right, {"defaults": {"direction": direction, **limits}})
            (one,) = document["benchmarks"]
            found.append((word, one["checks"], one["measure"]["difference"]["ci_method"]))
    assert found[:2] == [
        (word, [{**check, "lower": pytest.approx(check["lower"]), "upper": pytest.approx(check["upper"])}], "tango")
        for word, (check,), _ in found[2:]
    ]


def test_a_relative_drop_is_a_share_of_the_size_of_the_score(tmp_path: Path) -> None:
    """Of a reward of -10 a drop of a tenth leads to -11, and an equal candidate has not dropped at all."""
    rewards = [-10.0 + (idx % 7 - 3) / 100 for idx in range(200)]
    policy = {"defaults": {"max_drop": 5.0, "max_relative_drop": 0.1}}
    left = run(tmp_path, "a", rewards)
    moved = [idx % 5 / 100 for idx in range(200)]
    lower_by_half = [one - 0.5 - more for one, more in zip(rewards, moved, strict=True)]
    assert decided(left, run(tmp_path, "b", lower_by_half), policy)[0] == "GO"
    assert decided(left, run(tmp_path, "c", [one - 1 for one in lower_by_half]), policy)[0] == "NO-GO"
    lower = {"defaults": {**policy["defaults"], "direction": "lower_is_better"}}
    assert decided(left, run(tmp_path, "d", [one + 1 for one in lower_by_half]), lower)[0] == "GO"
    assert decided(left, run(tmp_path, "e", [one + 2 for one in lower_by_half]), lower)[0] == "NO-GO"


def test_a_rule_that_asks_nothing_of_this_baseline_is_an_error(tmp_path: Path) -> None:
    """A guard that takes the relative drop away leaves a drop of 1, which every candidate passes."""
    left, right = run(tmp_path, "a", GOOD), run(tmp_path, "b", BAD)
    rule = {"max_drop": 1.0, "max_relative_drop": 0.05}
    assert decided(left, right, {"defaults": rule})[0] == "NO-GO"
    with pytest.raises(ConfigError, match="does not count at this score of the baseline"):
        decided(left, right, {"defaults": {**rule, "relative_guard_below": 0.3}})
    zero = run(tmp_path, "c", [0.0] * 100), run(tmp_path, "d", [1.0] * 100)
    with pytest.raises(ConfigError, match="does not count at this score of the baseline"):
        decided(*zero, {"defaults": {**rule, "direction": "lower_is_better"}})


def test_holm_keeps_one_chance_breach_among_many_from_deciding(tmp_path: Path) -> None:
    """A breach taken alone that does not survive Holm's adjustment over ten benchmarks is inconclusive."""
    after = [*([0.0] * 7), *([1.0] * 693), *([0.0] * 300)]
    policy = {"defaults": {"max_drop": 0.0}}
    alone = run(tmp_path, "a", {"b0": GOOD}), run(tmp_path, "b", {"b0": after})
    assert decided(*alone, policy)[0] == "NO-GO"
    many = {f"b{n}": GOOD for n in range(10)}
    sides = run(tmp_path, "c", many), run(tmp_path, "d", {**many, "b0": after})
    found, document = decided(*sides, policy)
    first = next(one for one in document["benchmarks"] if one["benchmark"] == "b0")
    assert (found, "Holm" in first["reasons"][0]) == ("INCONCLUSIVE", True)


@pytest.mark.slow
def test_a_gate_over_twenty_benchmarks_errs_in_at_most_five_percent(tmp_path: Path) -> None:
    """Two equal models on twenty benchmarks, 2,000 times: a false NO-GO is at most as frequent as promised."""

    drawn = np.random.default_rng(0)
    n_false = 0
    for _ in range(2000):
        demands = []
        for _ in range(20):
            before, after = (drawn.random(100) < 0.7).astype(float), (drawn.random(100) < 0.7).astype(float)
            scores = Scores(
                baseline=before, candidate=after, baseline_ends=(before, before), candidate_ends=(after, after),
                clusters=None, design=PairedDesign(), questions=np.arange(100),
            )  # fmt: skip
            demands.append(Demand(kind="drop", limit=0.0, scores=scores, margin=0.0, settings=Settings()))
        n_false += bool(breaches(demands, 0.95))
    assert n_false <= 0.05 * 2000


def test_a_policy_of_nemo_evaluator_is_read(tmp_path: Path) -> None:
    """Its form is understood as it is, and its result folders can be gated by it."""
    path = tmp_path / "policy.yaml"
    path.write_text(
        "version: 1\n"
        "defaults: {tier: supporting, max_drop: 0.015, metric: mean_reward, direction: higher_is_better}\n"
        "benchmarks:\n"
        "  quiz: {tier: critical, max_drop: 0.02, max_relative_drop: 0.05, relative_guard_below: 0.4, metric: pass@1}\n"
    )
    left, right = write_nemo(tmp_path / "a", nemo_lines(GOOD)), write_nemo(tmp_path / "b", nemo_lines(SAME))
    baseline, candidate = read_sides([str(left), str(right)])
    found = gate(baseline, candidate, read_policy(path), despite=frozenset())
    assert found.exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("defaults: {max_dorp: 0.1}", 'did you mean "max_drop"'),
        ("defaults: {max_drop: -1}", "defaults.max_drop"),
        ("defaults: {tier: vital}", "defaults.tier"),
        ("benchmarks: {quiz: {max_drop: yes}}", "max_drop is true"),
        ("defaults: {metric: ''}", "defaults.metric"),
        ("- a", "expected keys"),
    ],
)
def test_a_wrong_policy_is_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    """The key is named, and what was meant."""
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"policy\.yaml") as refused:
        read_policy(path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
