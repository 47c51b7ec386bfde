"""Writes every artifact of a run from its run.db, in one pass over the results of each benchmark.

The same store gives the same bytes. results.jsonl is streamed; no step may hold all results in
memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from nel.artifacts.benchmark_result import BenchmarkResult
from nel.artifacts.collecting import Collection, StoredBenchmark
from nel.artifacts.files import benchmark_dir, directory_name
from nel.artifacts.results import RunTiming, date_of
from nel.artifacts.run_warnings import Noticed, run_warnings
from nel.artifacts.selection import selection_json, shard_json
from nel.config.identity import PROMPT_TEMPLATE, Identity
from nel.config.redaction import redact_url
from nel.core.atomic_files import write_file
from nel.core.forked_map import collection_paused
from nel.core.reward_keys import aliases
from nel.core.strict_json import pretty
from nel.engine.store.elsewhere import shard_of
from nel.engine.store.plans import check_plan
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.metrics.accumulator import COUNTS, Accumulator
from nel.metrics.requested import RequestedStatistics
from nel.types import JsonObject
from nel.version import __version__

_SHOWN_OF_PLAN: Final = (
    "repeats",
    "max_problems",
    "generation",
    "system_prompt",
    "dataset",
    "scorer",
)
"""Keys of a plan that the bundle has under ``config``."""
_HEADLINE: Final = (
    "value",
    "ci_lower",
    "ci_upper",
    "ci_level",
    "ci_method",
    "ci_covers",
    "bounds",
    "unit",
    "new_questions",
)


def write_artifacts(
    run_dir: Path, statistics: Mapping[str, RequestedStatistics] | None = None
) -> list[BenchmarkResult]:
    """Write every artifact but the report page, and return what the benchmarks came to.

    Args:
        statistics: Metrics and reducers of each slot; without it those that the run names and that
            are installed.

    Raises:
        StoreError: There is no usable run.db.
        StoppedEarly: The disk is full.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        config = snapshot.meta("config") or {}
        run_id = snapshot.meta("run_id") or run_dir.name
        write_file(run_dir / "run.yaml", [_run_yaml(run_id, config)])
        results, collections = [], {}
        benchmarks = snapshot.benchmarks()
        for key, slot, name, plan in benchmarks:
            if plan:
                check_plan(slot, plan)
                benchmark = StoredBenchmark(
                    snapshot=snapshot,
                    run_id=run_id,
                    config=config,
                    key=key,
                    slot=slot,
                    name=name,
                    plan=plan,
                    directory=benchmark_dir(run_dir, slot),
                )
                collected = Collection(benchmark, (statistics or {}).get(slot))
                results.append(_write_benchmark(benchmark, collected))
                collections[slot] = collected
    if config.get("aggregates"):
        from nel.artifacts.aggregates import Member, members_of, write_aggregates  # noqa: PLC0415 - few runs have any

        # Aggregates name benchmarks as the configuration does, the store by unique slots, in the
        # same order.
        entries = {
            slot: entry["name"]
            for entry, (_, slot, _, _) in zip(config["benchmarks"], benchmarks, strict=False)
        }
        members: dict[str, Member] = {}
        for result in results:
            members |= members_of(entries[result.slot], result, collections[result.slot])
        write_aggregates(run_dir, run_id, config["aggregates"], members)
    return results


def _write_benchmark(benchmark: StoredBenchmark, collected: Collection) -> BenchmarkResult:
    directory, name = benchmark.directory, benchmark.name
    pairs = collected.add_requests()
    with collection_paused():  # what is decoded has no cycles
        write_file(directory / "results.jsonl", collected.lines())
    head = {"run_id": benchmark.run_id, "benchmark": name}
    dated = {**head, **benchmark.head, "timing": _run_timing(benchmark)}
    metrics = {**dated, **_metrics_json(benchmark, collected)}
    if collected.calibrating is not None:
        labelled = collected.calibrating.write(head, metrics["headline"], benchmark.plan)
        if metrics["judging"] is not None:
            metrics["judging"] |= labelled
    metrics["warnings"] = run_warnings(
        benchmark.plan, collected.total, _notice(benchmark, collected, metrics)
    )
    if collected.auditing is not None:
        metrics |= collected.auditing.write(head)
    if pairs:
        from nel.artifacts.repeat_check import repeat_check_json  # noqa: PLC0415 - few runs have one

        n = collected.total.accounting.n_scored + collected.total.accounting.n_model_failure
        headline = metrics["headline"]
        metrics["repeat_check"] = repeat_check_json(pairs, benchmark.plan, headline=headline, n=n)
    bundle = _bundle_json(benchmark, collected, metrics)
    failures = {"accounting": metrics["accounting"], **collected.failures.as_json()}
    documents = {
        "metrics.json": metrics,
        f"eval-{directory_name(name)}.json": bundle,
        "failure_analysis.json": {**dated, **failures},
        "runtime_stats.json": {**dated, **_runtime_json(benchmark, collected)},
    }
    for file_name, document in documents.items():
        write_file(directory / file_name, [pretty(document)])
    return BenchmarkResult(
        name=name, slot=benchmark.slot, directory=directory, metrics=metrics, bundle=bundle
    )


def _run_timing(benchmark: StoredBenchmark) -> RunTiming:
    """Return when a run's first session began and its last ended, or what an import says of it."""
    imported = benchmark.plan.get("imported")
    sessions = benchmark.snapshot.sessions() if imported is None else [imported]
    started = sessions[0]["started"] if sessions else None
    ends = [
        session["started"] + session["elapsed"]
        for session in sessions
        if session["started"] is not None and session["elapsed"] is not None
    ]
    is_over = bool(sessions) and sessions[-1]["elapsed"] is not None
    return {
        "started": date_of(started),
        "ended": date_of(max(ends)) if is_over and ends else None,
    }


def _runtime_json(benchmark: StoredBenchmark, collected: Collection) -> dict[str, object]:
    snapshot = benchmark.snapshot
    n_correct = collected.total.n_correct
    return {
        **collected.runtime.as_json(
            snapshot.sessions(), has_prices=bool(benchmark.prices), n_correct=n_correct
        ),
        "served": collected.served.as_json(),
        "n_beyond_stop": collected.n_beyond,
        **{name: snapshot.meta(name) or [] for name in ("sandboxes", "executors", "limiters")},
        "judges": collected.judges.as_json(),
    }


def _metrics_json(benchmark: StoredBenchmark, collected: Collection) -> dict[str, Any]:
    plan, total = benchmark.plan, collected.total
    headline_metrics = total.metrics()
    headline: JsonObject = total.headline()
    shared_passes = collected.notes.shared_passes
    # A shard is never complete; of results of another tool it is what that says.
    identity, imported = plan.get("identity"), plan.get("imported") or {}
    is_whole = shard_of(identity) is None and bool(imported.get("complete", True))
    is_judged = collected.judging is None or not collected.judging.awaits_judge
    is_done = collected.n_not_run == 0 and is_judged
    is_complete = is_done and is_whole
    spread = collected.spread.as_json(headline)
    stop_rule = None
    if collected.early is not None:
        n_questions = _n_questions(benchmark, collected)
        stop_rule = collected.early.as_json(complete=is_complete, n_questions=n_questions)
    return {
        "complete": is_complete,
        **shard_json(plan, total.accounting, is_done=is_done),
        "stop_rule": stop_rule,
        "selection": selection_json(plan),
        "reading": {"rule": plan["scorer"]["rule"], "versions": plan["scorer"]["reading"]},
        "accounting": total.accounting.as_json(),
        "headline": {
            "metric": headline["name"],
            **{name: headline[name] for name in _HEADLINE if name in headline},
        },
        "metrics": [
            *headline_metrics,
            *collected.chosen.rows(total.headline_name, headline_metrics),
        ],
        **({"shared_passes": shared_passes} if shared_passes else {}),
        "lower_is_better": plan["lower_is_better"],
        "failed_metrics": list(collected.chosen.failed),
        "categories": {
            name: _category_json(accumulator)
            for name, accumulator in collected.categories.by_name().items()
        },
        "rates": total.rates(),
        "completed": total.completed_json(),
        **({"spread": spread} if spread else {}),
        "judging": _judging_json(benchmark, collected),
    }


def _n_questions(benchmark: StoredBenchmark, collected: Collection) -> int:
    """Return the number of samples that the planned (sample, repeat) pairs belong to."""
    return collected.total.accounting.n_total // int(benchmark.plan["repeats"])


def _judging_json(benchmark: StoredBenchmark, collected: Collection) -> dict[str, Any] | None:
    if collected.judging is None:
        return None
    from nel.artifacts.judge_summary import judging_json  # noqa: PLC0415 - of judged runs alone

    counts, models = collected.judging.as_json(), collected.models_of_judges
    return judging_json(counts, benchmark.plan, judges=models)


def _judging_warnings(
    benchmark: StoredBenchmark, collected: Collection, judging: JsonObject | None
) -> list[str]:
    if collected.judging is None:
        return []
    from nel.artifacts.judge_summary import judging_warnings  # noqa: PLC0415 - as above

    return list(
        judging_warnings(
            judging,
            benchmark.plan,
            models=collected.models,
            models_by_judge=collected.judges.served_names(),
            faults=collected.judging.details,
        )
    )


def _notice(benchmark: StoredBenchmark, collected: Collection, metrics: JsonObject) -> Noticed:
    judging = metrics["judging"]
    judges_asked = int(judging is not None)
    for judge in collected.judges.as_json().values():
        judges_asked += sum(judge["requests"].values())
    return Noticed(
        failed_metrics=collected.chosen.failed,
        rows=metrics["metrics"],
        endings=collected.endings.warnings(),
        golds=filter(None, [collected.listed_golds.caution()]),
        of_answers=[*collected.cuts.warnings(), *collected.notes.warnings()],
        served=collected.served.warnings(),
        fallbacks=collected.served.fallbacks(),
        judging=_judging_warnings(benchmark, collected, judging),
        calibration=[] if collected.calibrating is None else collected.calibrating.warnings,
        judges_asked=judges_asked,
        copies=collected.copies,
        is_complete=metrics["complete"],
        is_shard="shard" in metrics,
    )


def _category_json(accumulator: Accumulator) -> dict[str, object]:
    headline: JsonObject = accumulator.headline()
    accounting: JsonObject = accumulator.accounting.as_json()
    return {
        **{name: accounting[name] for name in COUNTS},
        **{name: headline[name] for name in ("value", "ci_lower", "ci_upper", "ci_method")},
    }


def _bundle_json(
    benchmark: StoredBenchmark, collected: Collection, metrics: JsonObject
) -> dict[str, Any]:
    plan, accounting = benchmark.plan, metrics["accounting"]
    endpoint = benchmark.config.get("endpoint") if not plan["eval_only"] else None
    return {
        "run_id": benchmark.run_id,
        "sdk": f"nel {__version__}",
        **{name: metrics[name] for name in ("complete", "shard") if name in metrics},
        "identity": plan["digest"],
        "identity_fields": Identity(fields=plan.get("identity") or {}).shown,
        "config": {
            "benchmark": benchmark.name,
            "model": plan["model"],
            "base_url": redact_url(endpoint["url"]) if endpoint else None,
            "protocol": plan["protocol"],
            **{field_name: plan[field_name] for field_name in _SHOWN_OF_PLAN},
            "prompt": (plan.get("identity") or {}).get(PROMPT_TEMPLATE),
            "fewshot": plan.get("fewshot"),  # imported results have none
        },
        "benchmark": {
            "name": benchmark.name,
            "samples": _n_questions(benchmark, collected),
            "repeats": plan["repeats"],
            "scores": _scores_json(collected.total, metrics["metrics"]),
            "categories": {
                name: _bundle_category(accumulator)
                for name, accumulator in collected.categories.by_name().items()
            },
            "accounting": accounting,
        },
        "n_results": accounting["n_total"],
    }


def _scores_json(total: Accumulator, metrics: list[dict[str, Any]]) -> dict[str, Any]:
    scores = {
        metric["name"]: {name: metric[name] for name in ("value", "ci_lower", "ci_upper", "n")}
        for metric in metrics
    }
    of_aliases = aliases(metrics[0]["name"], scores, is_binary=total.binary)
    return scores | {alias: scores[name] for alias, name in of_aliases.items()}


def _bundle_category(accumulator: Accumulator) -> dict[str, object]:
    headline: JsonObject = accumulator.headline()
    ends = {name: headline[name] for name in ("n", "ci_lower", "ci_upper")}
    return {"mean_reward": headline["value"], **ends}


def _run_yaml(run_id: str, config: dict[str, Any]) -> bytes:
    redacted = {**config}
    if redacted.get("endpoint"):
        redacted["endpoint"] = {
            **redacted["endpoint"],
            "url": redact_url(redacted["endpoint"]["url"]),
        }
    head = f"# Run {run_id}, as resolved by nel {__version__}. Secrets are named, never stored.\n"
    return (head + yaml.safe_dump(redacted, sort_keys=True, allow_unicode=True)).encode()
