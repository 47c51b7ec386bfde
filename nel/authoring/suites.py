"""``suite:NAME``, or a YAML file: benchmarks that are run together, with their sub-scores and the
whole as means over them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nel.authoring.benchmark_group import BenchmarkGroup
from nel.config.schema.run import split_category
from nel.config.schema.suite import SuiteConfig, SuiteMean, SuiteMember, read_suite
from nel.errors import ConfigError


def group_of(document: object, where: str) -> BenchmarkGroup:
    """Return the members and means of a suite; raises ConfigError where it is not one.

    Args:
        document: As `SuiteConfig` says.
        where: Names it in errors.
    """
    suite = read_suite(document, where)
    names = dict.fromkeys(_benchmarks(suite))
    if not names:
        raise ConfigError(f"{where}: all members of the suite are missing")
    return BenchmarkGroup(members=tuple(names), aggregates=tuple(_means(suite, suite, suite.suite)))


def _benchmarks(mean: SuiteMean) -> Iterator[str]:
    """Yield the benchmarks that are run, a category as the benchmark that it is of."""
    for member in mean.members:
        if member.mean is not None:
            yield from _benchmarks(member.mean)
        elif not member.missing:
            yield split_category(member.name)[0]


def _means(mean: SuiteMean, suite: SuiteConfig, title: str) -> Iterator[dict[str, Any]]:
    """Yield a mean, and those that it is of, as entries of ``aggregates``."""

    def title_of(member: SuiteMember) -> str:
        return member.name if member.mean is None else f"{title}/{member.name}"

    # Either all members have a weight or none: the schema sees to it.
    weights = [member.weight for member in mean.members if member.weight is not None]
    yield {
        "name": title,
        "metric": suite.metric,
        "benchmarks": [title_of(member) for member in mean.members],
        "weights": weights,
        "weight_by_size": mean.weigh == "by_size",
        "missing": {member.name: member.missing for member in mean.members if member.missing},
    }
    for member in mean.members:
        if member.mean is not None:
            yield from _means(member.mean, suite, title_of(member))
