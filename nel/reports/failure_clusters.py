"""What the pages say of failures that look alike: the clusters of failure_analysis.json, each with
where to see one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nel.reports.text import one_line

_SIGNATURE_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterExample:
    """A failure of a cluster, by its place in the benchmark."""

    idx: int
    repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRow:
    """Failures of one kind that have one error text or one form of answer in common; texts are
    printable.
    """

    kind: str
    signature: str
    count: int
    rate: float
    """Of the benchmark's results, 0 to 1."""
    examples: Sequence[ClusterExample]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTable:
    """The clusters of a benchmark, the largest first."""

    rows: Sequence[ClusterRow]
    n_unclustered: int


def cluster_table(failures: Mapping[str, Any]) -> ClusterTable:
    """Return the clusters of a failure_analysis.json; none where an older nel wrote it."""
    return ClusterTable(
        rows=[_row(cluster) for cluster in failures.get("clusters") or ()],
        n_unclustered=int(failures.get("n_unclustered") or 0),
    )


def _row(cluster: Mapping[str, Any]) -> ClusterRow:
    examples = [
        ClusterExample(idx=int(exemplar["problem_idx"]), repeat=int(exemplar.get("repeat") or 0))
        for exemplar in cluster.get("exemplars") or ()
    ]
    return ClusterRow(
        kind=one_line(str(cluster["kind"])),
        signature=one_line(str(cluster["signature"]))[:_SIGNATURE_CHARACTERS],
        count=int(cluster["count"]),
        rate=float(cluster["rate"]),
        examples=examples,
    )
