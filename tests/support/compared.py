"""Finished runs and results of other tools as files, for comparisons: written by hand, without an engine."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nel.apps.leaderboard.ranked_runs import standings_json
from nel.comparison.compare import compare
from nel.comparison.decision import decision_json
from nel.comparison.document import comparison_json
from nel.comparison.gate import gate
from nel.comparison.measures import Settings
from nel.comparison.reading import read_sides
from nel.comparison.sides import Side
from nel.config.identity import Identity
from nel.decide.policy import Policy
from nel.metrics.accumulator import STOP_RULE, Accumulator
from nel.types import ModelFailure, Outcome, Scored, Unscored

FIELDS: Mapping[str, object] = {
    "benchmark": "quiz",
    "mode": "generation",
    "dataset.sha256": "d" * 64,
    "prompt.sha256": "p" * 64,
    "system_prompt": None,
    "scorer.rules": "s" * 64,
    "scoring.truncated": "failure",
    "endpoint.model": "m",
    "endpoint.protocol": "chat",
    "generation.temperature": 0.0,
    "judge.panel": None,
}

JUDGING: Mapping[str, object] = {
    "n_judged": 0, "n_cases": 0, "n_cases_without_grade": 0, "n_without_grade": {"n": 0, "kinds": {}}, "templates": {},
    "settings": {"aggregate": None, "quorum": None, "repeats": None, "swap": None},
    "judges": [], "agreement": [], "self_consistency": [], "position_swap": [],
}  # fmt: skip
_UNMEASURED: Mapping[str, object] = dict.fromkeys(("value", "ci_lower", "ci_upper"), None) | {
    "ci_method": "none",
    "reason": "no labels",
}
CALIBRATION: Mapping[str, object] = {
    "n_judged": 0, "n_labelled": 0, "n_stale": 0, "is_binary": True,
    "base_rates": dict.fromkeys(("judge", "judge_labelled", "labels", "labels_weighted"), None),
    "agreement": {"raw": _UNMEASURED, "kappa": _UNMEASURED}, "sensitivity": _UNMEASURED, "specificity": _UNMEASURED,
}  # fmt: skip


def line(
    idx: int,
    reward: float | None,
    *,
    sample_id: str | None = None,
    repeat: int = 0,
    category: str | None = None,
    group: str | None = None,
    question: str | None = None,
    expected: object = None,
    answer: str = "",
    **changes: object,
) -> dict[str, Any]:
    asked = question or f"Question {idx}?"
    metadata: dict[str, object] = {"question": asked, **({} if category is None else {"category": category})}
    state = "unscored" if reward is None else "scored"
    unscored = {"kind": "timeout", "cause": "infra"} if reward is None else {"kind": None, "cause": None}
    return {
        "problem_idx": idx,
        "sample_id": sample_id or f"q{idx}",
        "repeat": repeat,
        "reward": reward,
        "expected_answer": idx if expected is None else expected,
        "model_response": None if reward is None else answer or f"said {reward}",
        "reasoning": None,
        "extracted_answer": None if reward is None else str(reward),
        "outcome": {"state": state, "detail": None, **unscored},
        "finish_reason": "stop",
        "benchmark": "quiz",
        "model": "m",
        "served_model": "served",
        "prompt": asked,
        "metadata": metadata,
        "group": group,
        "scoring_details": {"metrics": {} if reward is None else {"correct": reward}},
        "tokens": {"prompt": 5, "completion": 7, "reasoning": None, "cached": None},
        "timing": {"started": None, "ended": None, "latency_seconds": 0.5, "first_token_seconds": None, "attempts": 1},
        **changes,
    }


def lines(rewards: Sequence[float | None], **given: Any) -> list[dict[str, Any]]:
    """Return a line for each reward, of questions 0, 1, …"""
    return [line(idx, reward, **given) for idx, reward in enumerate(rewards)]


def write_run(
    run_dir: Path,
    results: Mapping[str, Sequence[Mapping[str, Any]]] | Sequence[Mapping[str, Any]],
    *,
    fields: Mapping[str, object] | None = None,
    complete: bool = True,
    n_total: int | None = None,
    counted: Accumulator | None = None,
    judging: Mapping[str, Any] | None = None,
    warnings: Sequence[Mapping[str, str]] = (),
    failed_metrics: Sequence[str] = (),
) -> Path:
    """Write the artifacts of a run that a comparison reads, and return its directory.

    The numbers are those of the lines, or what was counted where other lines take their place.
    """
    by_name = results if isinstance(results, Mapping) else {"quiz": results}
    for name, rows in by_name.items():
        directory = run_dir / name
        directory.mkdir(parents=True)
        (directory / "results.jsonl").write_text(_lines(rows), encoding="utf-8")
        total = counted or _accumulated(rows)
        n_lines = total.accounting.n_total if counted else len(rows)
        headline = total.headline()
        kept = ("value", "ci_lower", "ci_upper", "ci_level", "ci_method", "bounds", "ci_covers", "unit")
        accounting = {**total.accounting.as_json(), "n_total": n_lines if n_total is None else n_total}
        identity = {**FIELDS, "benchmark": name, **(fields or {})}
        _write(directory / "metrics.json", {
            "run_id": run_dir.name, "benchmark": name, "complete": complete, "accounting": accounting,
            "model": identity["endpoint.model"], "timing": {"started": None, "ended": None},
            "headline": {"metric": headline["name"], **{key: headline[key] for key in kept}},  # type: ignore[literal-required]
            "metrics": total.metrics(), "failed_metrics": list(failed_metrics), "judging": judging,
            "warnings": list(warnings), "stop_rule": None, "selection": None, "categories": {}, "rates": {},
            "reading": {"rule": None, "versions": {}}, "lower_is_better": [], "completed": {"value": None, "n": 0},
        })  # fmt: skip
        repeats = 1 + max((row["repeat"] for row in rows if isinstance(row["repeat"], int)), default=0)
        _write(directory / f"eval-{name}.json", {
            "run_id": run_dir.name, "sdk": "nel", "complete": complete, "n_results": accounting["n_total"],
            "identity": Identity(fields=identity).digest, "identity_fields": identity,
            "benchmark": {
                "name": name, "samples": n_lines, "repeats": repeats,
                "scores": {}, "categories": {}, "accounting": accounting,
            },
            "config": {
                "benchmark": name, "model": identity["endpoint.model"], "base_url": None, "protocol": None, "repeats": 1,
                "max_problems": None, "generation": {}, "system_prompt": None,
                "dataset": {"uri": None, "revision": None, "sha256": None, "rows": None},
                "scorer": {"name": None, "sha256": None, "rule": None, "reading": {}},
            },
        })  # fmt: skip
    (run_dir / "run.yaml").write_text("endpoint:\n  model: m\n", encoding="utf-8")
    return run_dir


def write_nemo(
    directory: Path, rows: Sequence[Mapping[str, Any]], *, name: str = "quiz", n_results: int | None = None
) -> Path:
    """Write a result folder of NeMo Evaluator and return it."""
    (directory / name).mkdir(parents=True)
    (directory / name / "results.jsonl").write_text(_lines(rows), encoding="utf-8")
    bundle = {"run_id": "r", "config": {"benchmark": name, "model": "m"}, "benchmark": {"name": name, "scores": {}}}
    _write(directory / name / f"eval-20260101T000000Z-{name}.json", {**bundle, "n_results": n_results or len(rows)})
    return directory


def nemo_lines(rewards: Sequence[float | None], **changes: object) -> list[dict[str, Any]]:
    """Return lines in NeMo Evaluator's form, with prompt and gold answer."""
    return [
        {"problem_idx": idx, "repeat": 0, "reward": reward, "prompt": f"Question {idx}?", "expected_answer": str(idx),
         "model_response": f"said {reward}", "metadata": {"question": f"Question {idx}?"}, **changes}
        for idx, reward in enumerate(rewards)
    ]  # fmt: skip


def lm_eval_lines(rewards: Sequence[float], *, filters: Sequence[str] = ("none",)) -> list[dict[str, Any]]:
    return [
        {"doc_id": idx, "doc": {"question": f"Question {idx}?"}, "target": str(idx), "filter": name,
         "arguments": {"gen_args_0": {"arg_0": f"Question {idx}?", "arg_1": {"temperature": 0.0}}},
         "resps": [[f"said {reward}"]], "filtered_resps": [str(reward)], "metrics": ["exact_match"],
         "doc_hash": f"doc{idx}", "prompt_hash": f"prompt{idx}", "target_hash": f"target{idx}", "exact_match": reward}
        for name in filters for idx, reward in enumerate(rewards)
    ]  # fmt: skip


def write_lm_eval(directory: Path, rows: Iterable[Mapping[str, Any]], *, task: str = "quiz") -> Path:
    """Write a sample file of lm-eval and return it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl"
    path.write_text(_lines(rows), encoding="utf-8")
    return path


def comparison_example() -> dict[str, Any]:
    """Return a comparison of two runs with a loss, an unscored sample and categories, as JSON."""
    with tempfile.TemporaryDirectory() as place:
        return comparison_json(
            compare(_example_sides(Path(place)), Settings(margin=0.1), despite=frozenset()), flips_max=5
        )


def decision_example() -> dict[str, Any]:
    """Return a GO over two runs, with an advisory benchmark that is missing, as JSON."""
    with tempfile.TemporaryDirectory() as place:
        baseline, candidate = _example_sides(Path(place))
        policy = Policy.model_validate({"defaults": {"max_drop": 0.2}, "benchmarks": {"gone": {"tier": "advisory"}}})
        found = gate(baseline, candidate, policy, despite=frozenset())
    return decision_json(found, baseline=baseline, candidate=candidate, policy=policy)


def standings_example() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        return standings_json(_example_sides(Path(place)))


def _example_sides(place: Path) -> list[Side]:
    before = [line(idx, float(idx % 4 != 0), category="ab"[idx % 2]) for idx in range(200)]
    after = [
        line(idx, None if idx == 7 else float(idx % 4 != 0 and idx != 9), category="ab"[idx % 2]) for idx in range(200)
    ]
    left = write_run(place / "a", {"quiz": before, "gone": before})
    return read_sides([str(left), str(write_run(place / "b", after))])


def _accumulated(rows: Sequence[Mapping[str, Any]]) -> Accumulator:
    """Return the numbers of a run with these lines, without those that are not a result."""
    total = Accumulator()
    usable = [
        one
        for one in rows
        if all(type(one[name]) is int and abs(one[name]) < 2**62 for name in ("problem_idx", "repeat"))
    ]
    for row in sorted(usable, key=lambda one: (one["problem_idx"], one["repeat"])):
        outcome, details = row.get("outcome"), row.get("scoring_details")
        metrics = details.get("metrics") or {} if isinstance(details, Mapping) else {}
        state = outcome["state"] if isinstance(outcome, Mapping) else None
        found: Outcome | str | None = None
        if state == "scored" and isinstance(row.get("reward"), (int, float)):
            found = Scored(reward=row["reward"], metrics=metrics)
        elif state == "model_failure":
            found = ModelFailure(kind=outcome["kind"], metrics=metrics)
        elif state == "unscored":
            found = Unscored(cause=outcome["cause"], kind=outcome["kind"])
        elif state == "not_asked":
            found = STOP_RULE
        if found is not None:
            total.add(row["problem_idx"], found, group=row["group"])
    return total


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
