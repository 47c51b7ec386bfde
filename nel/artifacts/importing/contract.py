"""What an importer returns. Imports nothing of nel but its types."""

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
    """`Unscored` where the source has no score; never a 0 that the source does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBenchmark:
    """One benchmark of the source; unknown values are None."""

    name: str
    results: Callable[[], Iterator[ImportedResult]]
    """Called twice, and yields the same in the same order; one result is in memory at a time."""
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
    """The source's metrics by name; they stand beside those that are computed of the results."""
    lower_is_better: Sequence[str] = ()
    """Metrics of which the source says that less is better."""
    is_complete: bool = True
    """False where the source says that the run did not end."""
    numbers_are_ids: bool = False
    """Whether the ids are the numbers by which the source's own tools pair results.

    An export to them keeps these.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """What an importer found."""

    format: str
    """Of the source, in a few letters, such as ``inspect``."""
    benchmarks: Sequence[ImportedBenchmark]
    notes: Sequence[str] = ()
    """One sentence each: what the source does not record, and how to take the result."""
