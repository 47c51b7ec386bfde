"""Stores a benchmark's samples when a run starts, and compares them when it is resumed.

Where the dataset is gone, or is large and unchanged, the samples in run.db take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from nel.config.identity import Identity, check_resume
from nel.engine.asking.repeat_check import check_draw
from nel.engine.asking.resume_checks import fingerprint_of, is_unchanged
from nel.engine.asking.stop_rules import refuse_growth
from nel.engine.asking.work import Job
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_judges import judge_json
from nel.engine.planning.plan_samples import Digests, duplicate_id, identity_of, stream_samples
from nel.engine.progress import Progress
from nel.engine.scorers.rules import describe_scorer
from nel.engine.store.elsewhere import shard_of
from nel.engine.store.log import Log
from nel.engine.store.plans import StoredPlan, check_plan
from nel.engine.store.projections.pending import Pending
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.errors import DatasetError, ResumeRefused
from nel.models.adaptation import Changes
from nel.scoring.declarations import lower_is_better
from nel.version import __version__

_ENDPOINT_FIELDS = frozenset({"endpoint.model", "endpoint.url", "endpoint.protocol"})
_UNSEEN_MAX = 3
"""Unseen dependencies of a scorer that a note names."""


@dataclass(frozen=True, slots=True)
class ResumeOptions:
    """What a resume may change, and where it reads and reports."""

    allowed: frozenset[str]
    """Fields of the identity that may differ."""
    scoring_only: bool
    """Whether stored answers are scored again and nothing is asked."""
    progress: Progress
    snapshot: Snapshot


def prepare_job(store: Log, snapshot: Snapshot, plan: Plan, options: ResumeOptions) -> Job:
    """Put a benchmark's samples and plan into the store, or compare them with those there.

    Args:
        store: With an open transaction, which the caller rolls back when this raises.
        snapshot: Of what was stored before it.
        plan: Of the benchmark.
        options: What a resume may change.

    Raises:
        NelError: The dataset is unusable, or the run was started with another one.
    """
    job = _prepare(store, snapshot, plan, options)
    store.mark_elsewhere(job.key, shard_of(plan.fields))
    check_draw(plan.slot, plan.config.repeat_check, store.count_usable(job.key))
    return job


def _prepare(store: Log, snapshot: Snapshot, plan: Plan, options: ResumeOptions) -> Job:
    by_slot = {slot: (key, stored) for key, slot, _, stored in snapshot.benchmarks()}
    if plan.slot in by_slot:
        key, stored = by_slot[plan.slot]
    else:
        key, stored = store.put_benchmark(plan.slot, plan.benchmark.name, {}), {}
    if stored:
        check_plan(plan.slot, stored)
        # The first stored answer fixes the identity: until then settings may change, and the plan
        # counts as new. With `eval_only` the rows themselves hold the answers.
        if not (options.scoring_only or plan.eval_only or Pending(snapshot).has_answer(key)):
            if plan.unreadable is None:
                plan = plan.adapting(_adapted_with_others(stored, plan, snapshot))
                stored = {}
            else:
                options = replace(options, allowed=options.allowed | _ENDPOINT_FIELDS)
    if stored:
        identity = stored["identity"]
        plan = plan.adapting(identity.get("endpoint.adapted") or {}).judged_as(identity)
    else:  # new, or killed before its snapshot was complete
        store.clear_samples(key)
    if plan.unreadable is not None:
        if not stored or plan.config.max_problems != stored["max_problems"]:
            raise DatasetError(plan.unreadable)
        return _prepare_from_snapshot(store, key, plan, stored, options)
    if (
        stored
        and not options.scoring_only
        and is_unchanged(plan, stored, snapshot.samples(key), allowed=options.allowed)
    ):
        return _prepare_from_snapshot(store, key, plan, stored, options)
    return _prepare_from_dataset(store, key, plan, stored, options)


def _prepare_from_dataset(
    store: Log, key: int, plan: Plan, stored: StoredPlan, options: ResumeOptions
) -> Job:
    n_stored = stored["dataset"]["rows"] if stored else 0
    digests = Digests()
    # The identity of the rows that are stored, once the stream has passed them; empty before.
    at_stored: list[Identity] = []
    usable: list[int] = []
    table = store.samples_of(key)
    stream = stream_samples(
        plan,
        digests,
        table.row_number_of,
        n_stored=n_stored,
    )
    samples = _skip_stored(
        _count_rows(stream, options.progress),
        n_stored,
        usable.append,
        lambda: at_stored.append(identity_of(plan, digests)),
    )
    clash = table.add(samples)
    if clash is not None:
        if at_stored:  # rows in another order meet stored ones: raises with the better message
            _check_resume(store, key, plan, stored, at_stored, options)
        raise duplicate_id(plan, *clash)
    options.progress.notes += plan.dataset.notes
    refuse_growth(plan, n_stored, digests.rows)
    is_rescored = bool(n_stored) and _check_resume(store, key, plan, stored, at_stored, options)
    # Rows that the scorer of then could decide nothing of, and that of now can, are asked.
    if is_rescored and not options.scoring_only:
        store.clear_faults(key, usable)
    versions = _versions(
        stored, options, is_rescored=is_rescored, asks=digests.rows > n_stored, key=key
    )
    uri = stored["dataset"]["uri"] if n_stored else plan.dataset.uri
    shots = None
    if n_stored:  # few-shot examples stay those of the run's beginning
        shots = stored["fewshot"]
    elif plan.benchmark.shots is not None:
        shots = plan.benchmark.shots.as_json()
    store.put_benchmark(
        plan.slot,
        plan.benchmark.name,
        {**_stored_plan(plan, digests, uri), **versions, "fewshot": shots},
    )
    return Job(key=key, plan=plan)


def _adapted_with_others(stored: StoredPlan, plan: Plan, snapshot: Snapshot) -> Changes:
    """Return the stored adaptation of requests to a model, if any benchmark has answers with it."""
    identity = stored["identity"]
    is_same_model = identity.get("endpoint.model") == plan.fields.get("endpoint.model")
    if is_same_model and Pending(snapshot).has_answers():
        return identity.get("endpoint.adapted") or {}
    return {}


def _prepare_from_snapshot(
    store: Log, key: int, plan: Plan, stored: StoredPlan, options: ResumeOptions
) -> Job:
    """Resume with stored samples: the dataset is gone, or is large and unchanged."""
    digests = {name: stored["identity"][name] for name in ("dataset.sha256", "prompt.sha256")}
    now = Identity(fields={**plan.fields, **digests})
    is_rescored = _check_resume(store, key, plan, stored, [now], options)
    changed: StoredPlan = {
        **stored,
        **_versions(stored, options, is_rescored=is_rescored, asks=False, key=key),
        **_settings(plan, now),
    }
    store.put_benchmark(plan.slot, plan.benchmark.name, changed)
    return Job(key=key, plan=plan)


def _count_rows(stream: Iterator[StoredSample], progress: Progress) -> Iterator[StoredSample]:
    for sample in stream:
        progress.rows_read += 1
        yield sample


def _skip_stored(
    stream: Iterator[StoredSample],
    n_stored: int,
    note: Callable[[int], object],
    reached: Callable[[], object],
) -> Iterator[StoredSample]:
    """Consume the samples that are stored already, call ``reached``, then yield the others.

    When ``reached`` is called, the digests of the stream are those of the stored samples, which are
    compared with the run's identity. ``note`` is called with the idx of each stored sample without
    a fault of its row.
    """
    if n_stored == 0:
        yield from stream
        return
    for sample in stream:
        if sample.idx >= n_stored:
            yield sample
            continue
        if sample.fault is None:
            note(sample.idx)
        if sample.idx == n_stored - 1:
            reached()


def _check_resume(
    store: Log,
    key: int,
    plan: Plan,
    stored: StoredPlan,
    at_stored: list[Identity],
    options: ResumeOptions,
) -> bool:
    """Void the outcomes that are made again, and return whether all answers are scored again.

    Raises:
        ResumeRefused: The run was started with other settings, or more rows or repeats.
    """
    try:
        rescore = _is_rescored(plan, stored, at_stored, options)
    except ResumeRefused as error:
        # A branch of a hub goes on; a run has the commit that it read.
        revision, revision_now = stored["dataset"]["revision"], plan.dataset.revision
        if revision == revision_now:
            raise
        raise ResumeRefused(
            f"{error}; {plan.dataset.uri} was at revision {revision} and is at {revision_now}"
        ) from error
    store.void(key, keep_unanswered=options.scoring_only)
    if rescore:
        store.begin_round(key)
    if plan.unseen and not rescore and Pending(options.snapshot).has_outcomes(key):
        options.progress.notes.append(_unseen_note(plan))
    return rescore


def _is_rescored(
    plan: Plan, stored: StoredPlan, at_stored: list[Identity], options: ResumeOptions
) -> bool:
    """Return whether all answers are scored again; raises ResumeRefused as its caller."""
    if not at_stored:
        raise ResumeRefused(
            f"cannot resume {plan.slot}: it was started with {stored['dataset']['rows']} rows and"
            " there are fewer now; give the same dataset and at least the same --max-problems"
        )
    if plan.config.repeats < stored["repeats"]:
        raise ResumeRefused(
            f"cannot resume {plan.slot} with fewer repeats ({plan.config.repeats}) than the"
            f" {stored['repeats']} it has"
        )
    rescore = check_resume(
        plan.slot, Identity(fields=stored["identity"]), at_stored[0], allowed=options.allowed
    )
    return rescore or options.scoring_only


def _versions(
    stored: StoredPlan, options: ResumeOptions, *, is_rescored: bool, asks: bool, key: int
) -> StoredPlan:
    """Return the nel versions that asked and scored, with this one where it does either.

    Args:
        stored: The plan in run.db; empty for a new benchmark.
        options: Of the resume.
        is_rescored: Whether every answer is scored again.
        asks: Whether there are new questions.
        key: Of the benchmark.
    """
    if not stored:
        return {"asked_by": [__version__], "scored_by": [__version__]}
    asks = asks or Pending(options.snapshot).count_pending(key, stored["repeats"]) > 0
    asked_by, scored_by = stored["asked_by"], stored["scored_by"]
    if asks and not options.scoring_only:
        asked_by = _with_this(asked_by)
    if is_rescored:
        scored_by = [__version__]
    elif asks:
        scored_by = _with_this(scored_by)
    return {"asked_by": asked_by, "scored_by": scored_by}


def _with_this(versions: list[str]) -> list[str]:
    return versions if __version__ in versions else [*versions, __version__]


def _unseen_note(plan: Plan) -> str:
    """Return a resume's note that the scorer may no longer give the stored scores."""
    n_more = len(plan.unseen) - _UNSEEN_MAX
    rest_text = f" and {n_more} more" if n_more > 0 else ""
    return (
        f"{plan.slot}: stored scores are kept, and nel cannot know whether the scorer still gives"
        " them: it reads what it does not declare with @scorer(data=...)"
        f" ({'; '.join(plan.unseen[:_UNSEEN_MAX])}{rest_text}); if that has changed, score every answer"
        " again with nel eval score"
    )


def plan_with_fields(stored: StoredPlan, fields: Mapping[str, object]) -> StoredPlan:
    """Return a stored plan with some fields of its identity replaced or added."""
    identity = Identity(fields={**stored["identity"], **fields})
    changed = {
        "identity": dict(identity.fields),
        "digest": identity.digest,
        "generation": _generation(identity),
    }
    return {**stored, **changed}  # type: ignore[typeddict-item]


def _generation(identity: Identity) -> dict[str, object]:
    return {
        name.removeprefix("generation."): value
        for name, value in identity.fields.items()
        if name.startswith("generation.") and value not in (None, {})
    }


def _stored_plan(plan: Plan, digests: Digests, uri: str) -> StoredPlan:
    identity = identity_of(plan, digests)
    return {
        **_settings(plan, identity),
        "max_problems": plan.config.max_problems,
        "sample": plan.config.sample,
        "selection": digests.selection,
        "fingerprint": fingerprint_of(plan),
        "eval_only": plan.eval_only,
        "dataset": {
            "uri": uri,
            "revision": plan.dataset.revision,
            "sha256": str(identity.fields["dataset.sha256"]),
            "rows": digests.rows,
        },
        "system_prompt": plan.config.system_prompt,
    }


def _settings(plan: Plan, identity: Identity) -> StoredPlan:
    """Return the fields of a stored plan that a resume may change."""
    return {
        "identity": dict(identity.fields),
        "digest": identity.digest,
        "repeats": plan.config.repeats,
        "repeat_check": plan.config.repeat_check,
        "reducers": list(plan.reducers),
        "metrics": list(plan.config.metrics),
        "scorer": describe_scorer(plan.benchmark, str(identity.fields["scorer.rules"])),
        "lower_is_better": list(lower_is_better(plan.benchmark.scorer)),
        "judge": judge_json(plan.judge),
        "truncated": plan.config.truncated,
        "model": plan.model,
        "protocol": None if plan.eval_only else plan.protocol,
        "generation": _generation(identity),
    }
