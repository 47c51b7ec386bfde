"""The plan that a dry run shows: every dataset is read, and nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nel.config.schema import JudgeConfig, RunConfig
from nel.config.schema.shard import Shard
from nel.engine.asking.benchmark_description import first_request
from nel.engine.asking.repeat_check import check_draw
from nel.engine.executors.find import find_executor
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_judges import may_ask_judge, unasked_judge
from nel.engine.planning.plan_samples import Digests, duplicate_id, stream_samples
from nel.engine.planning.resolution import make_plans, with_members
from nel.engine.store.codec import decode_sample
from nel.engine.store.elsewhere import shard_number, shard_of
from nel.engine.store.spending import price_of
from nel.episodes.limits import with_defaults
from nel.models.wire.base import text_length
from nel.reports.writers import check_writers
from nel.types import JsonObject, Sample

_CHARACTERS_PER_TOKEN = 4
"""Average of English text, for the estimate of a dry run."""
_REQUESTS_SHOWN = 3
"""Requests of each benchmark that a dry run shows as they would be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBenchmark:
    """The plan of one benchmark in a dry run."""

    name: str
    dataset: str
    revision: str | None
    samples: int
    bad_rows: int
    repeats: int
    requests: int
    prompt_tokens: int
    """Estimated at four characters a token."""
    completion_tokens_max: int | None
    """From max_tokens; None where it is not set, so that the endpoint decides."""
    generation: JsonObject
    """The settings that are sent, the benchmark's own included; the endpoint decides all others."""
    protocol: str = "chat"
    """Of the requests."""
    judges: tuple[str, ...] = ()
    """Names of the judges."""
    judge_requests: int = 0
    """Estimated at one question for each answer and judge."""
    solver: str = ""
    """Of its episodes; empty where each sample is one request."""
    limits: JsonObject = field(default_factory=dict)
    """Of each episode; `requests` counts as many steps as they allow."""
    estimate: JsonObject | None = None
    """The likely use of the episodes, where a pilot or a number of steps is given."""
    notes: tuple[str, ...] = ()
    """Remarks for the user."""
    first_requests: tuple[JsonObject, ...] = ()
    """The JSON bodies of the first samples' first requests, as to be sent; at most three."""


def preview(config: RunConfig, *, pilot: str | None = None) -> list[PlannedBenchmark]:
    """Return the plan of a run: every dataset is read and nothing is sent.

    Args:
        config: Of the run.
        pilot: The directory of an earlier run, or a number of steps, by which episodes are
            estimated.

    Raises:
        NelError: As `evaluate` raises before it sends anything.
    """
    check_writers(config.output.reports)
    find_executor(config.engine.executor)
    config = with_members(config)
    plans = make_plans(config)
    return [_with_estimate(_preview(plan, config), config, pilot) for plan in plans]


def _with_estimate(
    planned: PlannedBenchmark, config: RunConfig, pilot: str | None
) -> PlannedBenchmark:
    episodes = planned.samples * planned.repeats
    if pilot is None or not planned.solver or not episodes:
        return planned
    from nel.runs.episode_estimate import read_use  # noqa: PLC0415 - few runs have episodes

    use = read_use(pilot, planned.name, planned.prompt_tokens / episodes)
    return replace(planned, estimate=use.of(episodes, price_of(config)))


@dataclass(slots=True)
class _PreviewedSamples:
    """Counts of the samples that a run would ask."""

    n: int = 0
    characters: int = 0
    first_requests: list[JsonObject] = field(default_factory=list)


def _read_samples(
    plan: Plan, config: RunConfig, digests: Digests, shard: Shard | None
) -> _PreviewedSamples:
    """Read every sample of a plan, and count those of this shard.

    Raises:
        DatasetError: Two rows have one id.
    """
    previewed = _PreviewedSamples()
    ids: dict[str, int] = {}
    for row in stream_samples(plan, digests, ids.get):
        if row.sample_id in ids:
            raise duplicate_id(plan, row, ids[row.sample_id])
        ids[row.sample_id] = row.row_number
        if row.content is None or row.fault is not None:
            continue
        sample = decode_sample(row.sample_id, row.content)
        if shard is not None and shard.number != shard_number(sample.group, sample.id, shard.of):
            continue
        previewed.n += 1
        previewed.characters += _prompt_characters(plan, sample)
        if len(previewed.first_requests) < _REQUESTS_SHOWN and not plan.eval_only:
            previewed.first_requests.append(_first_request(plan, config, sample))
    return previewed


def _preview(plan: Plan, config: RunConfig) -> PlannedBenchmark:
    digests = Digests()
    samples = _read_samples(plan, config, digests, shard_of(plan.fields))
    check_draw(plan.slot, plan.config.repeat_check, digests.good)
    answers = samples.n * plan.config.repeats + (plan.config.repeat_check or 0)
    solver, limits, per_answer = _episodes(plan)
    requests, characters = 0, 0
    if not plan.eval_only:
        requests = answers * per_answer
        characters = samples.characters * plan.config.repeats
    judge = JudgeConfig()
    if plan.judge is not None and may_ask_judge(plan.benchmark.scorer):
        judge = plan.judge
    limit = plan.generation.max_tokens
    settings = config.generation_of(plan.config).model_dump()
    return PlannedBenchmark(
        name=plan.slot,
        dataset=plan.dataset.uri,
        revision=plan.dataset.revision,
        samples=samples.n,
        bad_rows=digests.rows - digests.good,
        repeats=plan.config.repeats,
        requests=requests,
        protocol=plan.protocol,
        prompt_tokens=characters // _CHARACTERS_PER_TOKEN,
        completion_tokens_max=None if limit is None else limit * requests,
        generation={key: value for key, value in settings.items() if value not in (None, {})},
        solver=solver,
        limits=limits,
        judges=tuple(member.label for member in judge.panel),
        judge_requests=answers * judge.repeats * len(judge.panel),
        notes=(
            *plan.notes,
            *plan.dataset.notes,
            *unasked_judge(config, plan.benchmark, plan.slot),
            *_shard_notes(plan, samples.n, digests.good),
        ),
        first_requests=tuple(samples.first_requests),
    )


def _shard_notes(plan: Plan, n: int, n_whole: int) -> list[str]:
    shard = shard_of(plan.fields)
    if shard is None:
        return []
    note = (
        f"{plan.slot}: {shard.title} asks {n:,} of {n_whole:,} samples; these numbers are of them"
        " alone"
    )
    return [note]


def _episodes(plan: Plan) -> tuple[str, JsonObject, int]:
    """Return the solver of a plan, the limits of its episodes, and the most requests of one."""
    if plan.solver is None:
        return "", {}, 1
    limits = with_defaults(plan.limits)
    return plan.solver.name, limits.as_json(), limits.steps or 1


def _first_request(plan: Plan, config: RunConfig, sample: Sample) -> JsonObject:
    body = first_request(
        plan.benchmark,
        sample,
        model=plan.model or "",
        protocol=plan.protocol,
        generation=plan.generation,
        system_prompt=plan.config.system_prompt,
        stream=config.endpoint is not None and config.endpoint.stream,
    )
    return body or {}


def _prompt_characters(plan: Plan, sample: Sample) -> int:
    messages = sample.input
    if isinstance(messages, str):
        length = len(messages)
    else:
        length = sum(text_length(message) for message in messages)
    return length + len(plan.config.system_prompt or "")
