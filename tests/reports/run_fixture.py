"""Builds a realistic run directory by hand, hostile outputs included, without any part of nel but its JSON writer.

Every total is counted from the rows, so that all files of the fixture agree. Deterministic: no clock, one seed.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

HOSTILE = (
    "<script>window.pwned = 1; alert(1)</script>",
    "</script><svg onload=alert(2)><script>alert(3)</script>",
    '" onmouseover="alert(4)" x="',
    "<!-- <script> --><img src=http://evil.test/x.png onerror=alert(5)>",
    "[click](javascript:alert(6)) <a href='javascript:alert(7)'>here</a>",
    "\x1b[31mred\x1b]8;;http://evil.test\x07link\x1b]8;;\x07 \u202egnp.exe\u202c",
    "lone \ud800 surrogate, NUL \x00, \u2028 and \u2029, \ufffe",
    "{{ 7 * 7 }} {% include 'x' %} ${alert(8)}",
)
HEAD = {
    "run_id": "20260401-mmlu-pro",
    "model": "aurora-7b-instruct",
    "timing": {"started": "2026-04-01T09:00:00.000Z", "ended": "2026-04-01T09:08:32.400Z"},
}
_SUBJECTS = ("algebra", "biology", "computer science", "economics", "engineering", "law", "philosophy", "physics")
_KINDS = ("truncated", "empty", "refusal", "content_filter", "no_answer", "context_exceeded")


def build_run(
    run_dir: Path,
    *,
    n: int = 600,
    unscored: int = 18,
    complete: bool = True,
    benchmarks: tuple[str, ...] = ("mmlu-pro",),
) -> Path:
    """Write a run with the given benchmarks under `run_dir` and return it."""
    run_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / "run.yaml").write_text(
        "# Run 20260401-mmlu-pro, as resolved by nel 0.1.0. Secrets are named, never stored.\n"
        "endpoint:\n  api_key_env: NEL_KEY\n  model: aurora-7b-instruct\n  url: http://127.0.0.1:8000/v1\n",
        encoding="utf-8",
    )
    for name in benchmarks:
        write_benchmark(run_dir / name, name, make_rows(n, unscored=unscored), complete=complete)
    return run_dir


def make_rows(n: int, *, unscored: int = 18, seed: int = 7) -> list[dict[str, Any]]:
    """Return `n` result rows: about two thirds right, some model failures, the given number unscored."""
    chance = random.Random(seed)  # noqa: S311 - a fixture, not a secret
    unscored_at = set(chance.sample(range(n), min(unscored, n)))
    return [_row(idx, chance, is_unscored=idx in unscored_at) for idx in range(n)]


def _row(idx: int, chance: random.Random, *, is_unscored: bool) -> dict[str, Any]:
    subject, letter, said = chance.choice(_SUBJECTS), chance.choice("ABCDEFGHIJ"), chance.choice("ABCDEFGHIJ")
    state, roll = "scored", chance.random()
    if is_unscored:
        state = "unscored"
    elif roll < 0.07:
        state = "model_failure"
    said = letter if roll > 0.36 else said
    text = HOSTILE[idx // 9 % len(HOSTILE)] if idx % 9 == 0 else _prose(chance, said)
    kind = {"scored": None, "model_failure": "truncated" if roll < 0.055 else "no_answer", "unscored": "timeout"}[state]
    if state == "unscored" and idx % 3 == 0:
        kind = "server_error"
    right = said == letter
    return {
        "problem_idx": idx,
        "sample_id": f"mmlu-pro/{idx:05d}",
        "repeat": 0,
        "reward": {"scored": float(right), "model_failure": 0.0, "unscored": None}[state],
        "expected_answer": letter,
        "model_response": None if state == "unscored" else text,
        "reasoning": "First recall the definition.\nThen compare the options." if idx % 4 == 0 else None,
        "extracted_answer": said if state == "scored" else None,
        "outcome": {
            "state": state,
            "kind": kind,
            "cause": "infra" if state == "unscored" else None,
            "detail": "no answer within 600 s; 6 attempts" if state == "unscored" else None,
        },
        "finish_reason": None if state == "unscored" else "length" if kind == "truncated" else "stop",
        "benchmark": "mmlu_pro",
        "model": HEAD["model"],
        "served_model": None if state == "unscored" else "aurora-7b-instruct",
        "prompt": [
            {"role": "system", "content": "Answer the question. End with: The answer is (X)."},
            {"role": "user", "content": f"Question {idx}: which statement about {subject} holds?\n(A) one\n(B) two"},
        ],
        "metadata": {"category": subject, "question_id": idx + 70, "source": "fixture"},
        "scoring_details": {"method": "answer_line", "metrics": {"correct": float(right)}} if state == "scored" else {},
        "tokens": {"prompt": 210, "completion": 340, "reasoning": 80, "cached": None},
        "timing": {
            "started": None,
            "ended": None,
            "latency_seconds": 0.8 + chance.random(),
            "first_token_seconds": 0.11,
            "attempts": 1,
        },
    }


def _prose(chance: random.Random, said: str) -> str:
    middle = chance.choice(("the rate falls as demand rises", "energy is conserved", "the premise is not needed"))
    steps = f"Let us think step by step. By definition, {middle}, which rules out most of the options."
    return f"{steps}\n\nThe answer is ({said})."


def accounting_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the accounting object that all files share."""
    states = Counter(row["outcome"]["state"] for row in rows)
    causes: dict[str, Counter[str]] = {}
    for row in rows:
        if row["outcome"]["state"] == "unscored":
            causes.setdefault(row["outcome"]["cause"], Counter())[row["outcome"]["kind"]] += 1
    failures = Counter(row["outcome"]["kind"] for row in rows if row["outcome"]["state"] == "model_failure")
    return {
        "n_total": len(rows),
        "n_scored": states["scored"],
        "n_model_failure": states["model_failure"],
        "n_unscored": states["unscored"],
        "n_not_asked": states["not_asked"],
        "model_failures": dict(failures),
        "unscored": {cause: {"n": kinds.total(), "kinds": dict(kinds)} for cause, kinds in causes.items()},
    }


def numbers_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return value, a rough interval and bounds of the rows' rewards."""
    rewards = [row["reward"] for row in rows if row["reward"] is not None]
    n_unscored = len(rows) - len(rewards)
    if not rewards:
        none = {"value": None, "ci_lower": None, "ci_upper": None, "ci_level": 0.95, "ci_method": "none", "n": 0}
        return {**none, "bounds": {"lower": 0.0, "upper": 1.0}}
    value, half = sum(rewards) / len(rewards), 0.98 / len(rewards) ** 0.5
    return {
        "value": value,
        "ci_lower": max(0.0, value - half),
        "ci_upper": min(1.0, value + half),
        "ci_level": 0.95,
        "ci_method": "wilson",
        "n": len(rewards),
        "bounds": {"lower": sum(rewards) / len(rows), "upper": (sum(rewards) + n_unscored) / len(rows)},
    }


def metrics_of(name: str, rows: list[dict[str, Any]], *, complete: bool = True) -> dict[str, Any]:
    accounting, numbers = accounting_of(rows), numbers_of(rows)
    n = numbers.pop("n")
    length = {
        "name": "response_length", "value": 1234.5, "n": n, "n_questions": n, "repeats": 1, "ci_lower": 1200.25,
        "ci_upper": 1268.75, "ci_level": 0.95, "ci_method": "t", "ci_covers": "new questions", "bounds": None,
        "denominator": "samples that have this metric", "unit": "number", "reason": None,
    }  # fmt: skip
    accuracy = {
        "name": "accuracy", "n": n, "n_questions": n, "repeats": 1, **numbers, "ci_covers": "new questions",
        "denominator": "scored and model failures", "unit": "rate", "reason": None if n else "nothing was scored",
    }  # fmt: skip
    parts = {
        category: [row for row in rows if row["metadata"].get("category") == category] for category in _categories(rows)
    }
    return {
        **HEAD,
        "benchmark": name,
        "complete": complete,
        "stop_rule": None,
        "selection": None,
        "reading": {"rule": "official", "versions": {}},
        "lower_is_better": [],
        "accounting": accounting,
        "headline": {"metric": "accuracy", **numbers, "ci_covers": "new questions", "unit": "rate"},
        "metrics": [accuracy, length],
        "categories": {category: _category(part) for category, part in parts.items()},
        "completed": {"value": 0.7, "n": max(len(rows), 1)},
        "rates": {kind: accounting["model_failures"].get(kind, 0) / max(len(rows), 1) for kind in _KINDS},
        "failed_metrics": [],
        "warnings": warnings_of(accounting),
        "judging": None,
    }


def warnings_of(accounting: dict[str, Any]) -> list[dict[str, str]]:
    """Return a warning for each cause of unscored samples."""
    n_total = accounting["n_total"]
    return [
        {"kind": "unscored", "text": f"{part['n']} of {n_total} unscored by {cause}"}
        for cause, part in accounting["unscored"].items()
    ]


def _categories(rows: list[dict[str, Any]]) -> list[str]:
    return sorted({row["metadata"]["category"] for row in rows if "category" in row["metadata"]})


def _category(rows: list[dict[str, Any]]) -> dict[str, Any]:
    accounting, numbers = accounting_of(rows), numbers_of(rows)
    counts = {key: accounting[key] for key in ("n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked")}
    return {**counts, **{key: numbers[key] for key in ("value", "ci_lower", "ci_upper", "ci_method")}}


def bundle_of(name: str, metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the content of eval-<benchmark>.json."""
    headline = {key: metrics["headline"][key] for key in ("value", "ci_lower", "ci_upper")}
    score = {**headline, "n": metrics["metrics"][0]["n"]}
    n_total = metrics["accounting"]["n_total"]
    return {
        "run_id": metrics["run_id"], "sdk": "nel 0.1.0", "complete": metrics["complete"],
        "identity": "sha256:" + "ab" * 32,
        "config": {
            "benchmark": name, "model": HEAD["model"], "base_url": "http://127.0.0.1:8000/v1",
            "protocol": "chat", "repeats": 1, "max_problems": None,
            "generation": {"temperature": 0.0, "max_tokens": 2048},
            "system_prompt": None,
            "scorer": {"name": "mmlu_pro", "sha256": "cd" * 32, "rule": "official", "reading": {}},
            "dataset": {"uri": "hf://TIGER-Lab/MMLU-Pro", "revision": "3373e0b", "sha256": "ef" * 32, "rows": n_total},
        },
        "benchmark": {
            "name": name, "samples": n_total, "repeats": 1, "accounting": metrics["accounting"],
            "scores": {"accuracy": score, "mean_reward": score, "pass@1": score},
            "categories": {
                category: {"mean_reward": part["value"], "n": part["n_total"], "ci_lower": part["ci_lower"],
                           "ci_upper": part["ci_upper"]}
                for category, part in metrics["categories"].items()
            },
        },
        "n_results": n_total,
    }  # fmt: skip


def failures_of(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of failure_analysis.json."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        outcome = row["outcome"]
        if outcome["state"] == "scored" and row["reward"] > 0:
            continue
        label = {"scored": "wrong_answer", "model_failure": outcome["kind"]}.get(outcome["state"])
        found.setdefault(label or f"{outcome['cause']}:{outcome['kind']}", []).append(row)
    total = sum(map(len, found.values()))
    kinds = {key: {"count": len(part), "rate": len(part) / len(rows)} for key, part in sorted(found.items())}
    return {
        **HEAD, "benchmark": name, "total": len(rows), "total_failures": total,
        "failure_rate": total / max(len(rows), 1), "accounting": accounting_of(rows),
        "categories": kinds,
        "kinds": {key: {**kind, "category": key, "hint": "look at it"} for key, kind in kinds.items()},
        "exemplars": [_exemplar(key, row) for key, part in sorted(found.items()) for row in part[:5]],
        "clusters": [],
        "n_unclustered": total,
    }  # fmt: skip


def _exemplar(category: str, row: dict[str, Any]) -> dict[str, Any]:
    kept = ("problem_idx", "repeat", "sample_id", "expected_answer", "extracted_answer")
    preview, detail = (row["model_response"] or "")[:500], row["outcome"]["detail"] or ""
    return {
        "category": category,
        "kind": category,
        **{key: row[key] for key in kept},
        "response_preview": preview,
        "detail": detail,
    }


def runtime_of(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of runtime_stats.json."""
    n, failed = len(rows), accounting_of(rows)["n_unscored"]
    return {
        **HEAD, "benchmark": name, "sessions": 2, "elapsed_seconds": 512.4,
        "n_answered": n - failed,
        "requests": {"completed": n - failed, "failed": failed, "attempts": n + 93, "retries": 93, "cached": 0},
        "latency_seconds": {"p50": 1.31, "p90": 1.72, "p99": 2.9, "max": 14.2, "mean": 1.4},
        "first_token_seconds": {"p50": 0.112, "p90": 0.19, "p99": 0.4, "max": None, "mean": 0.12},
        "inter_token_seconds": dict.fromkeys(("p50", "p90", "p99", "max", "mean")),
        "cost": {"total": 1.25, "per_correct": None, "unknown": 0},
        "run": {"requests": n + 93, "tokens": 12345, "cost": 1.25},
        "tokens": {"prompt": 210 * n, "completion": 340 * n, "reasoning": 80 * n, "cached": None, "reported": n},
        "throughput": {"samples_per_second": 1.17, "completion_tokens_per_second": 398.1},
        "finish_reasons": {"stop": n - 40, "length": 22}, "models": {"aurora-7b-instruct": n - failed},
        "sandboxes": [], "executors": [{"name": "local"}], "limiters": [], "n_beyond_stop": 0,
        "served": [], "judges": {}, "episodes": None,
    }  # fmt: skip


def write_benchmark(directory: Path, name: str, rows: list[dict[str, Any]], *, complete: bool = True) -> Path:
    """Write the five artifacts of one benchmark and return its directory."""
    directory.mkdir(parents=True, exist_ok=True)
    metrics = metrics_of(name, rows, complete=complete)
    write_json(directory / "metrics.json", metrics)
    write_json(directory / f"eval-{name}.json", bundle_of(name, metrics))
    write_json(directory / "failure_analysis.json", failures_of(name, rows))
    write_json(directory / "runtime_stats.json", runtime_of(name, rows))
    lines = [json.dumps(row, sort_keys=True, allow_nan=False) for row in rows]
    (directory / "results.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    return directory


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON, lone surrogates escaped."""
    path.write_text(json.dumps(value, sort_keys=True, indent=2, allow_nan=False) + "\n", encoding="ascii")
