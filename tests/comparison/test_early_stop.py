"""Comparisons and gates of runs that a stop rule ended early: by the rule's own interval, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel.comparison.compare import compare
from nel.comparison.decision import WORDS
from nel.comparison.document import benchmark_json
from nel.comparison.floors import hold, read_floors
from nel.comparison.gate import gate
from nel.comparison.measures import Settings
from nel.comparison.reading import read_sides
from nel.decide.policy import Policy
from nel.reports.comparison import lines as shown_lines
from tests.support.compared import line, write_run

N, ASKED = 200, 80


def _write(path: Path, *, baseline: str, lower: float, upper: float, reason: str = "narrow") -> list[str]:
    """Write a baseline, and a candidate that was stopped early with an interval of the difference."""
    write_run(path / "base", [line(idx, idx % 2.0, category="c" if idx % 4 else "d") for idx in range(N)])
    left_out = {"state": "not_asked", "kind": None, "cause": None, "detail": "stopped"}
    rows = [
        line(idx, 1.0 if idx < ASKED else None, **({} if idx < ASKED else {"outcome": left_out})) for idx in range(N)
    ]
    write_run(path / "new", rows)
    file = path / "new" / "quiz" / "metrics.json"
    metrics: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    metrics["stop_rule"] = {
        "when": ["decided"], "seed": 0, "condition": None, "reason": reason, "baseline": baseline,
        "n_questions_asked": ASKED, "n_questions": N,
        "difference": {"lower": lower, "upper": upper},
    }  # fmt: skip
    metrics["metrics"][0] |= {"ci_method": "betting", "bounds": {"lower": 1.0, "upper": 1.0}, "ci_upper": 1.0}
    metrics["accounting"] |= {"n_unscored": 0, "n_not_asked": N - ASKED}
    file.write_text(json.dumps(metrics), encoding="utf-8")
    return [str(path / "base"), str(path / "new")]


@pytest.mark.parametrize(
    ("baseline", "reason", "lower", "upper", "verdict", "decision"),
    [
        ("base", "narrow", 0.1, 0.6, "better", "GO"),
        ("base", "better", 0.1, 0.6, "better", "GO"),
        ("base", "better", -0.01, 0.6, "better", "GO"),
        ("base", "narrow", -0.01, 0.6, "inconclusive", "GO"),
        ("base", "narrow", -0.05, 0.6, "inconclusive", "INCONCLUSIVE"),
        ("base", "narrow", -0.6, -0.1, "worse", "NO-GO"),
        ("base", "worse", -0.6, 0.01, "worse", "INCONCLUSIVE"),
        ("other", "better", 0.1, 0.6, "inconclusive", "INCONCLUSIVE"),
    ],
)
def test_only_the_rule_of_this_baseline_decides(
    tmp_path: Path, baseline: str, reason: str, lower: float, upper: float, verdict: str, decision: str
) -> None:
    """All 80 that were asked are right, half of the baseline: the fixed interval is above 0, and has no say."""
    sides = read_sides(_write(tmp_path, baseline=baseline, lower=lower, upper=upper, reason=reason))
    compared = compare(sides, Settings(), despite=frozenset()).candidates[0].benchmarks[0]
    assert (compared.headline.verdict, compared.n_not_asked) == (verdict, N - ASKED)
    assert "80 of 200 pairs were asked on both sides" in " ".join(compared.cautions)
    policy = Policy.model_validate({"defaults": {"max_drop": 0.02}})
    assert WORDS[gate(*sides, policy, despite=frozenset()).decision] == decision


@pytest.mark.parametrize(
    ("baseline", "ends", "method", "test", "p_value"),
    [("base", (-0.01, 0.6), "betting", "stop_rule", 0.05), ("other", (-1.0, 1.0), "none", "none", 1.0)],
)
def test_no_interval_of_a_fixed_number_is_shown(
    tmp_path: Path, baseline: str, ends: tuple[float, float], method: str, test: str, p_value: float
) -> None:
    """The rule looked until something was seen: what a fixed number would say holds for no metric and no category."""
    sides = read_sides(_write(tmp_path, baseline=baseline, lower=-0.01, upper=0.6, reason="better"))
    compared = compare(sides, Settings(), despite=frozenset()).candidates[0].benchmarks[0]
    gated = gate(*sides, Policy(), despite=frozenset()).benchmarks[0].measured
    assert gated is not None
    for one in (compared.headline, gated):
        assert one.tested is not None
        assert (one.tested.lower, one.tested.upper) == ends
        assert (one.tested.interval_method, one.tested.test_method) == (method, test)
        assert one.tested.p_value == pytest.approx(p_value)
    assert len(compared.slices) == 2
    for one in (*compared.slices, *compared.metrics):
        assert one.tested is not None
        assert (one.verdict, one.tested.interval_method, one.tested.p_value) == ("inconclusive", "none", 1.0)
    said = " ".join(shown_lines(benchmark_json(compared, flips_max=0)))
    assert "tango" not in said
    assert "mcnemar" not in said
    assert "p is adjusted" not in said
    assert "won 40, lost 0, equal 40" in said


def test_a_floor_is_held_by_the_interval_of_the_rule(tmp_path: Path) -> None:
    """One floor is decided on the interval as it is; of two, whose levels are higher, there is none."""
    run_dir = Path(_write(tmp_path, baseline="base", lower=0.1, upper=0.6)[1])
    assert [WORDS[hold(run_dir, read_floors([f"accuracy={floor}"])).decision] for floor in (0.9, 0.97)] == [
        "GO",
        "INCONCLUSIVE",
    ]
