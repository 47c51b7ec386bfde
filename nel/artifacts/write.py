"""Writes every artifact of a run from its run.db, in one pass over the results of each benchmark.

The same store gives the same bytes. results.jsonl is streamed; no step may hold all results in
memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from nel.artifacts.categories import Categories
from nel.artifacts.cautions import Copies, ScorerNotes, UnknownEndings
from nel.artifacts.failures import FailureAnalysis
from nel.artifacts.files import benchmark_dir, directory_name
from nel.artifacts.inputs import AUDIT_NAME, BORROWED_NAME, CALIBRATION_NAME, LABELS_NAME
from nel.artifacts.results import (
    NOT_RUN,
    Result,
    ResultLine,
    add_episode,
    not_asked_line,
    read_result,
    result_line,
)
from nel.artifacts.run_warnings import Noticed, run_warnings
from nel.artifacts.runtime import SERVED_MAX, JudgeStats, RuntimeStats
from nel.artifacts.selection import Drawn, selection_json
from nel.artifacts.served import ServedBuilds
from nel.artifacts.shard import shard_json
from nel.authoring.statistics_names import choose_statistics
from nel.config.identity import PROMPT_TEMPLATE, Identity
from nel.config.redaction import redact_url
from nel.config.schema import Price
from nel.core.atomic_files import write_file
from nel.core.forked_map import collection_paused
from nel.core.sent_messages import messages_in
from nel.core.strict_json import dumps_line, loads, pretty
from nel.engine.store.codec import decode_response
from nel.engine.store.elsewhere import shard_of
from nel.engine.store.plans import check_plan
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.judges.record import KEY as JUDGEMENTS
from nel.metrics.accumulator import OTHER_SHARD, STOP_RULE, Accounting, Accumulator
from nel.metrics.category_fields import fields_of
from nel.metrics.question_intervals import Design
from nel.metrics.requested import RequestedStatistics, StatisticsCollector
from nel.types import Outcome, SampleScore, Score, Unscored
from nel.version import __version__

if TYPE_CHECKING:
    from nel.artifacts.calibration import Calibrating
    from nel.artifacts.early_stop import EarlyStop
    from nel.artifacts.extraction import Auditing
    from nel.artifacts.repeat_check import Pair
    from nel.judges.stats.summary import JudgingCounts

_SHOWN_OF_PLAN: Final = (
    "repeats",
    "max_problems",
    "generation",
    "system_prompt",
    "dataset",
    "scorer",
)
"""Keys of a plan that the bundle has under ``config``."""
_OF_LABELS: Final = (LABELS_NAME, CALIBRATION_NAME, BORROWED_NAME)
_STOPPED_BEFORE: Final = "the stop rule ended the benchmark before this question"
_OTHER_SHARD_ASKS: Final = "another shard of the run asks this question"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """One benchmark's numbers, as the artifacts hold them."""

    name: str
    slot: str
    directory: Path
    metrics: dict[str, Any] = field(repr=False)
    """The content of metrics.json."""
    bundle: dict[str, Any] = field(repr=False)
    """The content of eval-<benchmark>.json."""

    @property
    def headline(self) -> dict[str, Any]:
        """Return the headline metric with interval and bounds."""
        headline: dict[str, object] = self.metrics["headline"]
        return headline

    @property
    def failed_metrics(self) -> list[str]:
        """Return the names of metrics that raised or gave no number."""
        failed: list[str] = self.metrics["failed_metrics"]
        return failed

    @property
    def accounting(self) -> dict[str, Any]:
        """Return ``n_total``, ``n_scored``, ``n_model_failure``, ``n_unscored``, ``n_not_asked``
        and their parts.
        """
        accounting: dict[str, object] = self.metrics["accounting"]
        return accounting


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
        return [
            _write_benchmark(
                run_dir,
                snapshot,
                run_id,
                config,
                key,
                slot,
                name,
                plan,
                (statistics or {}).get(slot),
            )
            for key, slot, name, plan in snapshot.benchmarks()
            if plan
        ]


@dataclass(slots=True)
class _Pass:
    """Everything one pass over the results collects."""

    not_run: Unscored
    """The outcome of a sample that was never asked."""
    solver: str
    """That answers the samples in episodes; empty where one request does."""
    price: Price | None
    """Of the model."""
    total: Accumulator
    categories: Categories
    failures: FailureAnalysis
    runtime: RuntimeStats
    chosen: StatisticsCollector
    calibrating: Calibrating | None
    """None where the benchmark has no labels."""
    auditing: Auditing | None
    """None where the benchmark has no audit."""
    judging: JudgingCounts | None
    """None as long as nothing was judged."""
    panel: list[str]
    """Names of the judges of a panel."""
    judges: JudgeStats
    models_of_judges: dict[str, str]
    endings: UnknownEndings
    copies: Copies
    notes: ScorerNotes
    early: EarlyStop | None
    served: ServedBuilds
    drawn: Drawn
    question: object = None
    """What the latest judgements were about."""
    n_questions: int = 0
    models: set[str] = field(default_factory=set)
    """What the server of the evaluated model calls it."""
    n_not_run: int = 0
    n_beyond: int = 0
    """Responses that were in flight when a stop rule ended the benchmark."""

    def lines(self, snapshot: Snapshot, key: int, repeats: int) -> Iterator[bytes]:
        """Yield the lines of results.jsonl, each result counted."""
        for stored in snapshot.results(key, repeats):
            result = read_result(stored, not_run=self.not_run)
            self.runtime.add(result.response)
            if result.is_elsewhere:
                self._count(result, OTHER_SHARD)
                yield dumps_line(not_asked_line(result, OTHER_SHARD, _OTHER_SHARD_ASKS))
            elif self.early is not None and not self.early.counts(result.idx):
                self.n_beyond += result.response is not None
                self._count(result, STOP_RULE)
                yield dumps_line(not_asked_line(result, None, _STOPPED_BEFORE))
            else:
                self._count(result, result.outcome)
                self._add(result)
                yield self._line(result, snapshot, key)

    def _line(self, result: Result, snapshot: Snapshot, key: int) -> bytes:
        line = result_line(result)
        if self.solver and isinstance(result.outcome, Unscored) and "episode" not in line:
            self._add_unfinished(line, result, snapshot, key)
        if result.sample is not None and result.sample.turns:
            sent = snapshot.request(key, result.idx, result.repeat)
            if sent:  # the prompt of several turns: all messages before the last answer
                messages: Any = messages_in(loads(sent))
                line["prompt"] = messages
        return dumps_line(line)

    def _add_unfinished(
        self, line: ResultLine, result: Result, snapshot: Snapshot, key: int
    ) -> None:
        """Add what is stored of an episode that has no answer, or was cut off by the run's end."""
        from nel.engine.episodes.transcript import (  # noqa: PLC0415 - few runs have any
            unfinished_episode,
        )

        sample_key = (key, result.idx, result.repeat)
        stored = unfinished_episode(snapshot, sample_key, self.price)
        if stored["attempts"] == 0 and result.response is None:
            return
        outcome = line["outcome"]
        ended_by = f"{outcome['cause']}:{outcome['kind']}"
        add_episode(line, {**stored, "solver": self.solver, "ended_by": ended_by})
        if not result.was_run:
            detail = (outcome["detail"] or "").removeprefix("never asked")
            outcome["detail"] = f"cut off in its episode after step {stored['steps']}{detail}"

    def _count(self, result: Result, counted: Outcome | str) -> None:
        """Count an outcome, or why it was not to be asked, in the benchmark and its categories."""
        fields = fields_of(result.sample)
        group = None if result.sample is None else result.sample.group
        self.drawn.add(result.idx, fields, group)
        self.total.add(result.idx, counted, group=group)
        for category in self.categories.of(fields):
            category.add(result.idx, counted, group=group)

    def _add(self, result: Result) -> None:
        """Add a result that counts to all else."""
        outcome, response, sample = result.outcome, result.response, result.sample
        self.n_not_run += not result.was_run
        self.failures.add(result)
        self.endings.add(response)
        self.copies.add(result.idx, response)
        self.notes.add(outcome)
        self.served.add(result.idx, response)
        self._add_judgements(result)
        if response is not None and response.model is not None and len(self.models) < SERVED_MAX:
            self.models.add(response.model)
        if not self.chosen.requested.is_empty:
            group = None if sample is None else sample.group
            self.chosen.add(result.idx, outcome, _sample_score(result), group=group)
        if self.calibrating is not None:
            self.calibrating.add(result)
        if self.auditing is not None:
            self.auditing.add(result)

    def _add_judgements(self, result: Result) -> None:
        # Pairs of several models may share a question.
        row = {} if result.sample is None else result.sample.metadata
        question = row.get("question_id", result.idx) if "baseline" in row else result.idx
        if self.n_questions == 0 or question != self.question:
            self.question = question
            self.n_questions += 1
        outcome = result.outcome
        judgements = outcome.details.get(JUDGEMENTS)
        fault = outcome if isinstance(outcome, Unscored) and outcome.cause == "judge" else None
        if judgements is not None or fault is not None:
            if self.judging is None:
                from nel.judges.stats.summary import (  # noqa: PLC0415 - of judged runs alone
                    JudgingCounts,
                )

                self.judging = JudgingCounts(self.panel)
            detail = outcome.detail if isinstance(outcome, Unscored) else ""
            self.judging.add(
                self.n_questions,
                judgements,
                unscored_kind=None if fault is None else fault.kind,
                unscored_detail=detail,
            )


def _write_benchmark(
    run_dir: Path,
    snapshot: Snapshot,
    run_id: str,
    config: dict[str, Any],
    key: int,
    slot: str,
    name: str,
    plan: Mapping[str, Any],
    choice: RequestedStatistics | None,
) -> BenchmarkResult:
    check_plan(slot, plan)
    directory = benchmark_dir(run_dir, slot)
    why = snapshot.meta("not_run")
    not_run = Unscored(**why) if why else NOT_RUN
    early = _early_stop(snapshot, key, slot, plan)
    collected = _collecting(config, plan, choice, directory, name, early, not_run)
    pairs = _add_requests(collected, snapshot, key, plan)
    with collection_paused():  # what is decoded has no cycles
        write_file(directory / "results.jsonl", collected.lines(snapshot, key, plan["repeats"]))
    head = {"run_id": run_id, "benchmark": name}
    metrics = _whole_metrics(collected, plan, head, pairs)
    bundle = _bundle_json(run_id, name, config, plan, collected, metrics["metrics"])
    failures = {"accounting": metrics["accounting"], **collected.failures.as_json()}
    write_file(directory / "metrics.json", [pretty(metrics)])
    write_file(directory / f"eval-{directory_name(name)}.json", [pretty(bundle)])
    write_file(directory / "failure_analysis.json", [pretty({**head, **failures})])
    runtime = _runtime_json(collected, snapshot)
    write_file(directory / "runtime_stats.json", [pretty({**head, **runtime})])
    return BenchmarkResult(
        name=name, slot=slot, directory=directory, metrics=metrics, bundle=bundle
    )


def _whole_metrics(
    collected: _Pass, plan: Mapping[str, Any], head: Mapping[str, str], pairs: list[Pair]
) -> dict[str, Any]:
    """Return metrics.json with what labels, an audit and the repeat check say; the first two write
    their own files too.
    """
    metrics = {**head, **_metrics_json(collected, plan)}
    if collected.calibrating is not None:
        labelled = collected.calibrating.write(head, metrics["headline"], plan)
        if metrics["judging"] is not None:
            metrics["judging"] |= labelled
    metrics["warnings"] = run_warnings(plan, collected.total, _noticed(collected, plan, metrics))
    if collected.auditing is not None:
        metrics |= collected.auditing.write(head)
    if pairs:
        from nel.artifacts.repeat_check import repeat_check_json  # noqa: PLC0415 - few runs have one

        n = collected.total.accounting.n_scored + collected.total.accounting.n_model_failure
        metrics["repeat_check"] = repeat_check_json(pairs, plan, headline=metrics["headline"], n=n)
    return metrics


def _add_requests(
    collected: _Pass, snapshot: Snapshot, key: int, plan: Mapping[str, Any]
) -> list[Pair]:
    """Count the requests of judges and of the repeat check, and return the latter's answers."""
    for call, stored in snapshot.calls(key):
        response = decode_response(stored)
        if not collected.judges.add(call, response):
            collected.runtime.add(response)
    n_again = plan.get("repeat_check")  # imported results have none
    if n_again is None:
        return []
    from nel.artifacts.repeat_check import read_pairs  # noqa: PLC0415 - few runs have one

    pairs = list(read_pairs(snapshot, key, n_again))
    for pair in pairs:
        collected.runtime.add(pair.second.response)
    return pairs


def _runtime_json(collected: _Pass, snapshot: Snapshot) -> dict[str, object]:
    n_correct = collected.total.n_correct
    return {
        **collected.runtime.as_json(snapshot.sessions(), n_correct=n_correct),
        "served": collected.served.as_json(),
        "n_beyond_stop": collected.n_beyond,
        **{name: snapshot.meta(name) or [] for name in ("sandboxes", "executors", "limiters")},
        "judges": collected.judges.as_json(),
    }


def _collecting(
    config: dict[str, Any],
    plan: Mapping[str, Any],
    choice: RequestedStatistics | None,
    directory: Path,
    name: str,
    early: EarlyStop | None,
    not_run: Unscored,
) -> _Pass:
    """Return a pass that has seen nothing yet."""
    listed = (config.get("budget") or {}).get("prices") or {}
    prices = {model: Price.model_validate(price) for model, price in listed.items()}
    panel = [str(member["name"]) for member in (plan.get("judge") or {}).get("panel") or ()]
    models = _models_of_judges(config, plan)
    drawn = Drawn(plan)
    design, headline, of_category = _designs(drawn, early)
    price = prices.get((config.get("endpoint") or {}).get("model"))
    chosen = StatisticsCollector(choice or _stored_choice(plan), design)
    return _Pass(
        not_run=not_run,
        solver=((plan.get("identity") or {}).get("solver") or {}).get("name", ""),
        price=price,
        total=Accumulator(design, headline=headline),
        categories=Categories(lambda: Accumulator(of_category)),
        failures=FailureAnalysis(),
        runtime=RuntimeStats(price),
        chosen=chosen,
        calibrating=_calibrating(directory),
        auditing=_auditing(directory, name, plan),
        judging=None,
        panel=panel,
        judges=JudgeStats(panel, models, prices),
        models_of_judges=models,
        endings=UnknownEndings(),
        copies=Copies(),
        notes=ScorerNotes(),
        early=early,
        served=ServedBuilds(),
        drawn=drawn,
    )


def _calibrating(directory: Path) -> Calibrating | None:
    """Return what takes in the labels of a benchmark, None where it never had any."""
    if not any((directory / name).exists() for name in _OF_LABELS):
        return None
    from nel.artifacts.calibration import Calibrating  # noqa: PLC0415 - few runs have labels

    return Calibrating(directory)


def _auditing(directory: Path, name: str, plan: Mapping[str, Any]) -> Auditing | None:
    """Return what reads a benchmark's answers in several ways, None where it has no audit."""
    if not (directory / AUDIT_NAME).is_file():
        return None
    from nel.artifacts.extraction import Auditing  # noqa: PLC0415 - few runs are audited

    return Auditing(directory, name, plan)


def _early_stop(
    snapshot: Snapshot, key: int, slot: str, plan: Mapping[str, Any]
) -> EarlyStop | None:
    """Return the stop rule of a benchmark, None where the run has none."""
    if not ((snapshot.meta("config") or {}).get("stop") or {}).get("when"):
        return None
    from nel.artifacts.early_stop import read_early_stop  # noqa: PLC0415 - few runs have one

    return read_early_stop(snapshot, key, slot, plan)


def _designs(drawn: Drawn, early: EarlyStop | None) -> tuple[Design, Design | None, Design]:
    """Return how questions were drawn for all metrics, for the headline where it has an interval of
    its own, and for categories.
    """
    anytime = None if early is None else early.interval
    if anytime is None:
        return drawn.design, None, drawn.of_category
    from nel.artifacts.early_stop import NO_INTERVAL  # noqa: PLC0415 - few runs stop early

    if drawn.design.fixed is not None:
        anytime = replace(anytime, covers=drawn.design.fixed.reason or "")
    design = Design(fixed=NO_INTERVAL)
    return design, Design(fixed=anytime), design


def _models_of_judges(config: dict[str, Any], plan: Mapping[str, Any]) -> dict[str, str]:
    """Return by judge what the configuration calls its model: of the panel, in a role, or the
    evaluated one itself.
    """
    panel = (plan.get("judge") or {}).get("panel") or []
    roles = (config.get("model_roles") or {}).values()
    own_roles = (
        (plan.get("identity") or {}).get("judge.roles") or {}
    ).values()  # the benchmark's too, of newer runs
    itself = [config["endpoint"]] if config.get("endpoint") else []
    judges = (*itself, *own_roles, *roles, *panel)
    return {str(judge.get("name") or judge["model"]): str(judge["model"]) for judge in judges}


def _metrics_json(collected: _Pass, plan: Mapping[str, Any]) -> dict[str, Any]:
    total = collected.total
    headline = total.headline()
    own = total.metrics()
    chosen = collected.chosen.rows(total.headline_name, own)
    names = (
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
    return {
        "complete": _is_complete(collected, plan),
        "stop_rule": _stop_rule_json(collected, plan),
        **shard_json(plan, total.accounting),
        "selection": selection_json(plan),
        "reading": {"rule": plan["scorer"]["rule"], "versions": plan["scorer"]["reading"]},
        "accounting": total.accounting.as_json(),
        "headline": {
            "metric": headline["name"],
            **{name: value for name, value in headline.items() if name in names},
        },
        "metrics": [*own, *chosen],
        **(
            {"shared_passes": collected.notes.shared_passes}
            if collected.notes.shared_passes
            else {}
        ),
        "failed_metrics": list(collected.chosen.failed),
        "categories": {
            name: _category_json(accumulator)
            for name, accumulator in collected.categories.by_name().items()
        },
        "rates": total.rates(),
        "completed": total.completed(),
        "warnings": [],
        "judging": _judging_json(collected, plan),
    }


def _judging_json(collected: _Pass, plan: Mapping[str, Any]) -> dict[str, Any] | None:
    if collected.judging is None:
        return None
    from nel.artifacts.judge_summary import judging_json  # noqa: PLC0415 - of judged runs alone

    return judging_json(collected.judging.as_json(), plan, judges=collected.models_of_judges)


def _judging_warnings(
    collected: _Pass, judging: Mapping[str, Any] | None, plan: Mapping[str, Any]
) -> list[str]:
    if collected.judging is None:
        return []
    from nel.artifacts.judge_summary import judging_warnings  # noqa: PLC0415 - as above

    return list(
        judging_warnings(
            judging,
            plan,
            models=collected.models,
            served=collected.judges.served(),
            faults=collected.judging.details,
        )
    )


def _noticed(collected: _Pass, plan: Mapping[str, Any], metrics: Mapping[str, Any]) -> Noticed:
    judging, asked = metrics["judging"], collected.judges.as_json().values()
    return Noticed(
        failed_metrics=collected.chosen.failed,
        rows=metrics["metrics"],
        endings=collected.endings.warnings(),
        of_scorers=collected.notes.warnings(),
        served=collected.served.warnings(),
        fallbacks=collected.served.fallbacks(),
        judging=_judging_warnings(collected, judging, plan),
        calibration=[] if collected.calibrating is None else collected.calibrating.warnings,
        judges_asked=sum(sum(requests["requests"].values()) for requests in asked)
        + (judging is not None),
        copies=collected.copies,
        is_complete=metrics["complete"],
        is_shard="shard" in metrics,
    )


def _stop_rule_json(collected: _Pass, plan: Mapping[str, Any]) -> dict[str, Any] | None:
    if collected.early is None:
        return None
    n_questions = len_of(collected.total.accounting, plan["repeats"])
    return collected.early.as_json(complete=_is_complete(collected, plan), n_questions=n_questions)


def _stored_choice(plan: Mapping[str, Any]) -> RequestedStatistics:
    return choose_statistics(
        None,
        metrics=plan.get("metrics", ()),
        reducers=plan.get("reducers", ()),
        repeats=plan["repeats"],
        installed_only=True,
    )


def _sample_score(result: Result) -> SampleScore:
    sample, response = result.sample, result.response
    return SampleScore(
        score=Score(value=0.0),
        sample_id=result.sample_id,
        sample_metadata=None if sample is None else sample.metadata,
        response=None if response is None else response.text,
        target=None if sample is None else sample.target,
        subset=None if sample is None else sample.subset,
    )


def _category_json(accumulator: Accumulator) -> dict[str, object]:
    headline, accounting = accumulator.headline(), accumulator.accounting.as_json()
    counts = {
        name: accounting[name]
        for name in ("n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked")
    }
    return {
        **counts,
        **{name: headline[name] for name in ("value", "ci_lower", "ci_upper", "ci_method")},
    }


def _bundle_json(
    run_id: str,
    name: str,
    config: dict[str, Any],
    plan: Mapping[str, Any],
    collected: _Pass,
    metrics: list[dict[str, Any]],
) -> dict[str, Any]:
    total = collected.total
    endpoint = config.get("endpoint") if not plan["eval_only"] else None
    return {
        "run_id": run_id,
        "sdk": f"nel {__version__}",
        "complete": _is_complete(collected, plan),
        **shard_json(plan, total.accounting),
        "identity": plan["digest"],
        "identity_fields": Identity(fields=plan.get("identity") or {}).shown,
        "config": {
            "benchmark": name,
            "model": plan["model"],
            "base_url": redact_url(endpoint["url"]) if endpoint else None,
            "protocol": plan["protocol"],
            **{field_name: plan[field_name] for field_name in _SHOWN_OF_PLAN},
            "prompt": (plan.get("identity") or {}).get(PROMPT_TEMPLATE),
            "fewshot": plan.get("fewshot"),  # runs of an older version have none
        },
        "benchmark": {
            "name": name,
            "samples": len_of(total.accounting, plan["repeats"]),
            "repeats": plan["repeats"],
            "scores": _scores_json(total, metrics),
            "categories": {
                field_name: _bundle_category(numbers)
                for field_name, numbers in collected.categories.by_name().items()
            },
            "accounting": total.accounting.as_json(),
        },
        "n_results": total.accounting.n_total,
    }


def _is_complete(collected: _Pass, plan: Mapping[str, Any]) -> bool:
    """Return whether every planned sample was run, which a shard is never; of results of another
    tool as that says.
    """
    is_whole = shard_of(plan.get("identity")) is None and bool(
        (plan.get("imported") or {}).get("complete", True)
    )
    return collected.n_not_run == 0 and is_whole


def len_of(accounting: Accounting, repeats: int) -> int:
    """Return the number of samples that the planned (sample, repeat) pairs belong to."""
    return accounting.n_total // repeats


def _scores_json(total: Accumulator, metrics: list[dict[str, Any]]) -> dict[str, Any]:
    scores = {metric["name"]: _score_json(metric) for metric in metrics}
    headline = _score_json(total.headline())
    scores.setdefault("mean_reward", headline)
    if total.binary:
        scores.setdefault("pass@1", headline)
        for name in [name for name in scores if "/pass_at_" in name]:
            scores.setdefault(f"pass@{name.rpartition('_')[2]}", scores[name])
    return scores


def _score_json(metric: Mapping[str, object]) -> dict[str, Any]:
    return {name: metric[name] for name in ("value", "ci_lower", "ci_upper", "n")}


def _bundle_category(accumulator: Accumulator) -> dict[str, object]:
    headline = accumulator.headline()
    return {
        "mean_reward": headline["value"],
        "n": headline["n"],
        "ci_lower": headline["ci_lower"],
        "ci_upper": headline["ci_upper"],
    }


def _run_yaml(run_id: str, config: dict[str, Any]) -> bytes:
    redacted = {**config}
    if redacted.get("endpoint"):
        redacted["endpoint"] = {
            **redacted["endpoint"],
            "url": redact_url(redacted["endpoint"]["url"]),
        }
    head = f"# Run {run_id}, as resolved by nel {__version__}. Secrets are named, never stored.\n"
    return (head + yaml.safe_dump(redacted, sort_keys=True, allow_unicode=True)).encode()
