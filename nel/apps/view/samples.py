"""A page of samples: a row for each question with all its repeats, in the order of the dataset,
filtered or searched.

Without a filter it is read from run.db alone and needs no index; with one, the index says which
samples to read.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

from nel.apps.view.finding import FoundRun
from nel.apps.view.index.building import IndexState, group_of, question_of
from nel.apps.view.index.database import COUNT_MAX, GROUPS, INDEX_FAULTS, Filter, Index
from nel.apps.view.index.words import query_of
from nel.apps.view.left_out import LeftOut, left_out
from nel.apps.view.pages import cut
from nel.apps.view.summary import BenchmarkSummary
from nel.artifacts.failures import kind_of
from nel.artifacts.results import read_result
from nel.engine.store.browsing import BrowsedStore
from nel.engine.store.snapshot import StoredResult
from nel.errors import StoreError
from nel.types import Response, Unscored

PAGE: Final = 50
_GIST: Final = 320
_NAMES_MAX: Final = 500
"""Choices of a filter; a benchmark with more categories is searched instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of one repeat."""

    repeat: int
    group: str
    """As `nel.apps.view.index` names it, or ``pending``."""
    kind: str
    reward: float | None
    is_match: bool
    """Whether the filter and the search found it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """One question."""

    idx: int
    sample_id: str
    question: str
    answer: str
    extracted: str | None
    target: str | None
    category: str | None
    verdicts: Sequence[Verdict]
    repeat: int
    """That is opened: the first match."""

    @property
    def opened(self) -> Verdict:
        """Return the verdict of the repeat whose answer is shown."""
        return next(
            (verdict for verdict in self.verdicts if verdict.repeat == self.repeat),
            self.verdicts[0],
        )

    @property
    def n_right(self) -> int:
        """Return how many repeats are right."""
        return sum(verdict.group == "right" for verdict in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a page of samples is asked for."""

    filter: Filter
    typed: str
    after: int | None = None
    """The page after this sample."""
    before: int | None = None
    """The page before this sample."""

    @property
    def is_plain(self) -> bool:
        """Return whether every sample is wanted."""
        return self.filter.is_empty and not self.typed


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePage:
    """A page of samples."""

    rows: Sequence[SampleRow]
    has_earlier: bool
    has_later: bool
    n_found: int | None = None
    """Matching results, None without a filter."""
    is_more: bool = False
    """Whether there are more matches than were counted."""
    seconds: float | None = None
    """What the search took."""
    problem: str = ""
    choices: Mapping[str, Sequence[tuple[str, int]]]
    """By filter: its values with the number of results that each would leave."""


def sample_page(
    run: FoundRun, benchmark: BenchmarkSummary, state: IndexState, wanted: Wanted
) -> SamplePage:
    """Return a page.

    Raises:
        NelError: The run cannot be read.
    """
    choices = _choices(state, benchmark, wanted.filter)
    if wanted.is_plain:
        return _plain_page(run, benchmark, wanted, choices)
    started = time.perf_counter()
    try:
        with Index(state.path) as index:
            facets = index.facets(wanted.filter)
            query = None if facets is None else query_of(wanted.typed, facets)
            if query is None:
                why = "the search needs a letter or a digit" if facets is not None else ""
                return SamplePage(
                    rows=(),
                    has_earlier=False,
                    has_later=False,
                    n_found=0,
                    problem=why,
                    choices=choices,
                )
            n_found = index.count(benchmark.key, query)
            groups = index.questions(
                benchmark.key, query, after=wanted.after, before=wanted.before, n_max=PAGE + 1
            )
    except INDEX_FAULTS:
        why = "the index of this run is not there yet; its filters and its search come with it"
        return SamplePage(rows=(), has_earlier=False, has_later=False, problem=why, choices=choices)
    seconds = time.perf_counter() - started
    is_back = wanted.before is not None
    has_more = len(groups) > PAGE
    groups = groups[-PAGE:] if is_back else groups[:PAGE]
    matches = {group[0].idx: [key.repeat for key in group] for group in groups}
    with BrowsedStore(run.store) as store:
        rows = _rows(store, benchmark, list(matches), matches)
    return SamplePage(
        rows=rows,
        has_earlier=has_more if is_back else wanted.after is not None,
        has_later=True if is_back else has_more,
        n_found=min(n_found, COUNT_MAX),
        is_more=n_found > COUNT_MAX,
        seconds=seconds,
        choices=choices,
    )


def neighbours(
    run: FoundRun, benchmark: BenchmarkSummary, state: IndexState, wanted: Wanted, idx: int
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Return the ``(sample, repeat)`` before and after a sample among those that are wanted, None
    at an end.
    """
    if wanted.is_plain:
        with BrowsedStore(run.store) as store:
            before = store.results_before(benchmark.key, idx, 1)
            after = next(store.samples(benchmark.key, first=idx + 1), None)
        return (before[0].idx, 0) if before else None, None if after is None else (after.idx, 0)
    with suppress(*INDEX_FAULTS), Index(state.path) as index:
        facets = index.facets(wanted.filter)
        query = None if facets is None else query_of(wanted.typed, facets)
        if query is not None:
            back = index.questions(benchmark.key, query, before=idx, n_max=1)
            on = index.questions(benchmark.key, query, after=idx, n_max=1)
            first, second = (
                (keys[0][0].idx, keys[0][0].repeat) if keys else None for keys in (back, on)
            )
            return first, second
    return None, None


def _plain_page(
    run: FoundRun,
    benchmark: BenchmarkSummary,
    wanted: Wanted,
    choices: Mapping[str, Sequence[tuple[str, int]]],
) -> SamplePage:
    with BrowsedStore(run.store) as store:
        if wanted.before is not None:
            samples = store.results_before(benchmark.key, wanted.before, PAGE + 1)
            has_earlier, has_later = len(samples) > PAGE, True
            samples = samples[:PAGE][::-1]
        else:
            first = 0 if wanted.after is None else wanted.after + 1
            samples = list(islice(store.samples(benchmark.key, first=first), PAGE + 1))
            has_earlier, has_later = wanted.after is not None, len(samples) > PAGE
            samples = samples[:PAGE]
        rows = _rows(store, benchmark, [sample.idx for sample in samples], {})
    return SamplePage(rows=rows, has_earlier=has_earlier, has_later=has_later, choices=choices)


def _rows(
    store: BrowsedStore,
    benchmark: BenchmarkSummary,
    positions: Iterable[int],
    matches: Mapping[int, Sequence[int]],
) -> list[SampleRow]:
    omitted = left_out(store, benchmark.key)
    return [
        _row(
            list(store.results(benchmark.key, benchmark.repeats, first=idx, last=idx)),
            matches.get(idx),
            omitted,
        )
        for idx in positions
    ]


def _row(
    stored: Sequence[StoredResult], matches: Sequence[int] | None, omitted: LeftOut
) -> SampleRow:
    verdicts = [verdict_of(result_row, omitted, matches) for result_row in stored]
    repeat = matches[0] if matches else 0
    opened = next((result_row for result_row in stored if result_row.repeat == repeat), stored[0])
    try:
        result = read_result(opened)
    except StoreError as error:
        return SampleRow(
            idx=opened.sample.idx, sample_id=opened.sample.sample_id, question=str(error), answer="", extracted=None,
            target=None, category=None, verdicts=verdicts, repeat=repeat,
        )  # fmt: skip
    sample, outcome = result.sample, result.outcome
    return SampleRow(
        idx=result.idx,
        sample_id=result.sample_id,
        question=(
            cut(question_of(sample), _GIST) if sample is not None else opened.sample.fault or ""
        ),
        answer=_gist(result.response, outcome.detail if isinstance(outcome, Unscored) else ""),
        extracted=(
            None
            if isinstance(outcome, Unscored) or outcome.answer is None
            else cut(outcome.answer, _GIST)
        ),
        target=None if sample is None or sample.target is None else cut(sample.target, _GIST),
        category=None if sample is None or sample.subset is None else cut(sample.subset, 80),
        verdicts=verdicts,
        repeat=repeat,
    )


def verdict_of(
    stored: StoredResult, omitted: LeftOut, matches: Sequence[int] | None = None
) -> Verdict:
    """Return what came of a repeat.

    Args:
        stored: As run.db has it.
        omitted: What a stop rule left out of the benchmark.
        matches: The repeats that a filter and a search found; all without it.
    """
    is_match = matches is None or stored.repeat in matches
    if stored.sample.idx in omitted:
        return Verdict(
            repeat=stored.repeat, group="not_asked", kind="", reward=None, is_match=is_match
        )
    if stored.outcome is None and stored.sample.fault is None:
        return Verdict(
            repeat=stored.repeat, group="pending", kind="", reward=None, is_match=is_match
        )
    try:
        result = read_result(StoredResult(stored.sample, stored.repeat, None, stored.outcome))
    except StoreError:
        return Verdict(
            repeat=stored.repeat, group="unscored", kind="damaged", reward=None, is_match=is_match
        )
    reward = getattr(result.outcome, "reward", None)
    return Verdict(
        repeat=stored.repeat,
        group=group_of(result),
        kind=kind_of(result) or "",
        reward=reward,
        is_match=is_match,
    )


def _gist(response: Response | None, detail: str) -> str:
    """Return the end of an answer, where its conclusion stands, on one line."""
    if response is None or response.error is not None:
        return cut(detail, _GIST)
    text = response.text
    return cut(text if len(text) <= _GIST else f"…{text[-_GIST:]}", _GIST + 1)


def _choices(
    state: IndexState, benchmark: BenchmarkSummary, chosen: Filter
) -> dict[str, Sequence[tuple[str, int]]]:
    """Return the values of each filter with what they would leave, given the other filters."""
    counts: list[tuple[str, str, str, int]] = []
    with suppress(*INDEX_FAULTS), Index(state.path) as index:
        counts = index.counts(benchmark.key)
    counters: dict[str, Counter[str]] = {
        "outcome": Counter(),
        "kind": Counter(),
        "category": Counter(),
    }
    for group, kind, category, n in counts:
        values = {"outcome": group, "kind": kind, "category": category}
        wanted = {"outcome": chosen.outcome, "kind": chosen.kind, "category": chosen.category}
        for name, value in values.items():
            others = all(
                not wanted[other] or wanted[other] == values[other]
                for other in values
                if other != name
            )
            if others and value:
                counters[name][value] += n
    groups = [(group, counters["outcome"][group]) for group in GROUPS if counters["outcome"][group]]
    kinds = counters["kind"].most_common(_NAMES_MAX)
    categories = sorted(counters["category"].items())[:_NAMES_MAX]
    return {"outcome": groups, "kind": kinds, "category": categories}
