"""The types that an importer returns. Imports nothing of nel but its types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nel.types import Outcome, Response, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedResult:
    """One answer to one question, as the source records it."""

    sample: Sample
    """Its id is the source's own; all repeats of a question have the same."""
    repeat: int
    """From 0."""
    response: Response | None
    """None where the source has no answer."""
    outcome: Outcome
    """`Unscored` where the source has no score, and never a 0 that is not in the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBenchmark:
    """One benchmark of the source; unknown values are None."""

    name: str
    results: Callable[[], Iterator[ImportedResult]]
    """Called twice; must yield the same results in the same order, and may stream them."""
    model: str | None = None
    started: float | None = None
    """In seconds since 1970."""
    elapsed_seconds: float | None = None
    scorer: str | None = None
    scorer_version: str | None = None
    dataset: str | None = None
    n_fewshot: int | None = None
    generation: Mapping[str, object] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    """The source's metrics by name, shown beside those that are computed from the results."""
    lower_is_better: Sequence[str] = ()
    """Metrics that the source declares as better when lower."""
    is_complete: bool = True
    """Whether the run ended, by the source."""
    numbers_are_ids: bool = False
    """Whether the ids are the numbers by which the source's own tools pair results; an export to
    these tools keeps them.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """The benchmarks that an importer read."""

    format: str
    """Of the source, in a few letters, such as ``inspect``."""
    benchmarks: Sequence[ImportedBenchmark]
    notes: Sequence[str] = ()
    """One sentence each: what the source does not record, and how to interpret the result."""
