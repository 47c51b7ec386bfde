"""Makes the stop rules of a session from run.db, with the outcomes that are stored already.

What a rule needs beside the samples is stored when the run begins: how many questions there are,
and the scores of the baseline. So a resume decides as the run would have, and artifacts need no
other directory.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from nel.config.named_baselines import read_baselines
from nel.config.schema.stop import StopCondition, StopConfig
from nel.core.paths import as_argument
from nel.core.strict_json import dumps_bytes
from nel.engine.asking.stop_rules import BASELINES, DECISIONS, StopRules
from nel.engine.asking.work import Job
from nel.engine.stopping.drawn_order import draw
from nel.engine.stopping.stop_rule import ANY, StopRule, StoredBaseline, ends_of
from nel.engine.store.codec import decode_sample
from nel.engine.store.lock import owner_of
from nel.engine.store.log import Log
from nel.engine.store.plans import StoredPlan
from nel.engine.store.projections.pending import Pending
from nel.engine.store.projections.results import results
from nel.engine.store.rows import outcome_in
from nel.engine.store.snapshot import FILE_NAME, Snapshot, StoredSample
from nel.errors import ConfigError

_MAY_DIFFER: Final = ("endpoint.model", "endpoint.url", "stop.", "dataset.sha256", "prompt.sha256")
"""Identity fields in which a baseline may differ; its questions are compared one by one."""
_SHOWN_MAX: Final = 3


def open_rules(
    store: Log, snapshot: Snapshot, jobs: Sequence[Job], config: StopConfig
) -> StopRules:
    """Return the rules of a session, which know every outcome that is stored.

    Raises:
        ConfigError: The baseline is not one that a rule can compare with.
    """
    baselines = snapshot.meta(BASELINES)
    if baselines is None:  # a resume compares with what the run was started with
        baselines = {job.plan.slot: _baseline(snapshot, job, config.conditions) for job in jobs}
        store.set_meta(BASELINES, baselines)
    rules = {}
    for job in jobs:
        repeats = job.plan.config.repeats
        rules[job.key] = rule_of(snapshot, job.key, job.plan.slot, config, repeats)
        _load(rules[job.key], snapshot, job.key, repeats)
    return StopRules(rules, {job.key: job.plan.slot for job in jobs})


def rule_of(
    snapshot: Snapshot,
    key: int,
    slot: str,
    config: StopConfig,
    repeats: int,
    *,
    looking: bool = True,
) -> StopRule:
    """Return the rule of a benchmark as run.db has it, without the outcomes.

    Args:
        snapshot: Of the run.
        key: The benchmark's number.
        slot: Its name.
        config: Of the rule.
        repeats: Of each question.
        looking: Whether it may end the benchmark; else it is fed to compute its intervals.
    """
    baseline = (snapshot.meta(BASELINES) or {}).get(slot)
    decision = (snapshot.meta(DECISIONS) or {}).get(slot)
    order = draw(snapshot.samples(key), seed=config.seed)
    if not looking:
        return StopRule(order, repeats, (), baseline)
    return StopRule(order, repeats, config.conditions, baseline, decision=decision)


def _load(rule: StopRule, snapshot: Snapshot, key: int, repeats: int) -> None:
    rule.start()
    if rule.has_ended or not Pending(snapshot).has_outcomes(key):
        return
    for stored_result in results(snapshot, key, repeats):
        if stored_result.outcome is not None:
            rule.add(
                stored_result.sample.idx, stored_result.repeat, outcome_in(stored_result.outcome)
            )


def _baseline(
    snapshot: Snapshot, job: Job, conditions: Sequence[StopCondition]
) -> StoredBaseline | None:
    """Return the scores, by question, of the run that a condition compares with, if any."""
    text = next(
        (condition.baseline for condition in conditions if condition.kind == "better-or-worse"),
        None,
    )
    if text is None:
        return None
    path = Path(text).expanduser()
    if not (path / FILE_NAME).is_file():
        raise ConfigError(
            f"stop.when: {path} is not a run directory, nor the name of a baseline; say"
            " better-or-worse RUN_DIR, of a finished run, or name it with nel baseline set NAME"
            " RUN_DIR"
        )
    owner = owner_of(path)
    if owner is not None:
        raise ConfigError(
            f"stop.when: {path} is still written by process {owner.pid}; wait until it ends"
        )
    slot = job.plan.slot
    with Snapshot(path / FILE_NAME) as theirs:
        matches = [
            (key, plan) for key, name, _, plan in theirs.benchmarks() if name == slot and plan
        ]
        if not matches:
            raise ConfigError(
                f"stop.when: {path} has no benchmark {slot}; a rule compares equal benchmarks"
            )
        key, plan = matches[0]
        _refuse_exchanged(path, str(theirs.meta("run_id")))
        _refuse_other(path, job, plan)
        if slot in (theirs.meta(DECISIONS) or {}):
            raise ConfigError(
                f"stop.when: {path} was ended early by a stop rule; a baseline has all its"
                " questions"
            )
        return _pair(path, snapshot, job, theirs, key, plan)


def _refuse_exchanged(path: Path, run_id: str) -> None:
    """Raise ConfigError if a named baseline is another run than its directory holds now."""
    for name, baseline in read_baselines().items():
        if Path(baseline.directory) == path.resolve() and baseline.run_id not in (None, run_id):
            raise ConfigError(
                f'stop.when: the baseline "{name}" is {baseline.run_id}, and {path} holds {run_id}'
                f" now; set it again with nel baseline set {name} {as_argument(path)}"
            )


def _refuse_other(path: Path, job: Job, plan: StoredPlan) -> None:
    """Raise ConfigError where a baseline was asked, scored or judged with other settings."""
    ours, theirs = job.plan.fields, plan["identity"]
    names = sorted(name for name in {*ours, *theirs} if not name.startswith(_MAY_DIFFER))
    differ = [name for name in names if ours.get(name) != theirs.get(name)]
    if differ:
        rest_text = f" and {len(differ) - _SHOWN_MAX} more" if len(differ) > _SHOWN_MAX else ""
        listed = "; ".join(
            f"{name}: {theirs.get(name)} and {ours.get(name)}" for name in differ[:_SHOWN_MAX]
        )
        raise ConfigError(
            f"stop.when: {path} and this run differ by more than the model ({listed}{rest_text});"
            " run the whole benchmark and use nel compare --despite"
        )


def _pair(
    path: Path, snapshot: Snapshot, job: Job, theirs: Snapshot, key: int, plan: StoredPlan
) -> StoredBaseline:
    """Return the baseline's scores in this run's order, paired by content and occurrence."""
    baseline_ends = dict(_scores(theirs, key, plan["repeats"], path))
    low, high = [], []
    n_missing = 0
    for name, sample in _name_samples(snapshot.samples(job.key)):
        ends = ANY if sample.fault is not None else baseline_ends.get(name)
        n_missing += ends is None
        ends = ends or ANY
        low.append(ends[0])
        high.append(ends[1])
    if n_missing:
        raise ConfigError(
            f"stop.when: {path} does not have {n_missing:,} of the {len(low):,} questions of"
            f" {job.plan.slot}, or with other content; a rule compares equal questions"
        )
    is_binary = plan["repeats"] == 1 and all(value in (0.0, 1.0) for value in (*low, *high))
    return {"run_id": str(theirs.meta("run_id")), "low": low, "high": high, "is_binary": is_binary}


def _scores(
    theirs: Snapshot, key: int, repeats: int, path: Path
) -> Iterator[tuple[str, tuple[float, float]]]:
    outcomes: dict[int, list[tuple[float, float]]] = {}
    for stored_result in results(theirs, key, repeats):
        if stored_result.sample.fault is not None:
            continue
        if stored_result.outcome is None:
            raise ConfigError(
                f"stop.when: {path} is not finished; finish it with nel eval resume"
                f" {as_argument(path)}"
            )
        try:
            outcomes.setdefault(stored_result.sample.idx, []).append(
                ends_of(outcome_in(stored_result.outcome))
            )
        except ValueError as error:
            raise ConfigError(
                f"stop.when: {path}: {error}, so that no rule can compare with it"
            ) from error
    for name, sample in _name_samples(theirs.samples(key)):
        ends = outcomes.get(sample.idx)
        if ends:
            lows, highs = zip(*ends, strict=True)
            yield name, (sum(lows) / repeats, sum(highs) / repeats)


def _name_samples(samples: Iterator[StoredSample]) -> Iterator[tuple[str, StoredSample]]:
    """Yield each sample with a name of its prompt, its gold answer and its occurrence, in order."""
    counts: Counter[str] = Counter()
    for stored_sample in samples:
        if stored_sample.content is None or stored_sample.fault is not None:
            yield "", stored_sample
            continue
        sample = decode_sample("", stored_sample.content)
        prompt: Any = sample.input
        if not isinstance(prompt, str):
            prompt = [[message.role, message.content] for message in prompt]
        parts = [prompt, sample.target, list(sample.choices or ()), list(sample.turns)]
        digest = hashlib.sha256(dumps_bytes(parts)).hexdigest()
        counts[digest] += 1
        yield f"{digest} {counts[digest]}", stored_sample
