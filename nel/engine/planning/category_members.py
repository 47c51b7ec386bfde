"""Categories that means of a run name, compared with those of the questions that it asks."""

from __future__ import annotations

from collections.abc import Sequence

from nel.config.schema import RunConfig
from nel.config.schema.run import CATEGORY, split_category
from nel.engine.asking.work import Job
from nel.engine.planning.plan import Plan
from nel.engine.store.codec import decode_sample
from nel.engine.store.snapshot import Snapshot
from nel.errors import ConfigError
from nel.metrics.category_fields import divided_by, fields_of, labels_of


def check_categories(config: RunConfig, jobs: Sequence[Job], snapshot: Snapshot) -> list[str]:
    """Return a note on each category that a mean is of and no question of the run is in.

    Raises:
        ConfigError: The run asks the whole benchmark, which therefore has no such category.
    """
    members = [split_category(name) for each in config.aggregates for name in each.benchmarks]
    notes = []
    for job in jobs:
        plan = job.plan
        named = {category for name, category in members if name == plan.config.name} - {""}
        categories = _categories(snapshot, job.key) if named else []
        for category in sorted(named.difference(categories)):
            is_whole = config.shard is None and _is_whole(plan)
            extent = "" if is_whole else ", as far as it is asked,"
            fault = (
                f"a mean is of {plan.config.name}{CATEGORY}{category}, and {plan.slot}{extent} has"
                f' no category "{category}"; there are {", ".join(categories) or "none"}'
            )
            if is_whole:
                raise ConfigError(fault)
            notes.append(fault)
    return notes


def _categories(snapshot: Snapshot, key: int) -> list[str]:
    values: dict[str, set[str]] = {}
    for row in snapshot.samples(key):
        if row.content is not None:
            fields = fields_of(decode_sample(row.sample_id, row.content))
            for name, value in labels_of(fields, None).items():
                values.setdefault(name, set()).add(value)
    return sorted(values.get(divided_by(values) or "", ()))


def _is_whole(plan: Plan) -> bool:
    entry, benchmark = plan.config, plan.benchmark
    is_limited = entry.max_problems is not None or benchmark.without_limit() is not benchmark
    return entry.sample is None and not is_limited
