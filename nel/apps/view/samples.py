"""A page of samples, in the order of the dataset or of a number; filtered or searched.

In the order of the dataset a row is a question with all its repeats, in that of a number it is an
answer. Without an order and a filter a page is read from run.db alone and needs no index; else the
index says which samples to read.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from nel.apps.view.finding import FoundRun
from nel.apps.view.index.building import IndexState, asked_in, group_of, numbers_of
from nel.apps.view.index.database import (
    GROUPS,
    INDEX_FAULTS,
    Index,
    Position,
    ResultFilter,
    ResultKey,
)
from nel.apps.view.index.words import conditions_of, query_of
from nel.apps.view.left_out import LeftOut, left_out
from nel.apps.view.summary import BenchmarkSummary
from nel.artifacts.failures import failure_kind
from nel.artifacts.results import read_result
from nel.config.schema import Price
from nel.engine.store.browsing import BrowsedStore
from nel.engine.store.projections.results import StoredResult, results
from nel.errors import StoreError
from nel.metrics.category_fields import category_of
from nel.reports.choices import options_of, read_answer
from nel.reports.distributions import measures_of
from nel.reports.text import cut
from nel.types import Outcome, Response, Unscored

PAGE: Final = 50
_GIST: Final = 320
_CATEGORY_MAX: Final = 80
"""Characters of a text in a row."""
_NAMES_MAX: Final = 500
"""Choices of a filter; a benchmark with more categories is searched instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatVerdict:
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
    verdicts: Sequence[RepeatVerdict]
    repeat: int
    """That is opened: the first match."""
    numbers: Mapping[str, float]
    """Score and measures of that repeat, as far as they are known."""

    @property
    def position(self) -> str:
        """Return the sample and its repeat, as an address has them."""
        return f"{self.idx}.{self.repeat}" if self.repeat else str(self.idx)

    @property
    def opened(self) -> RepeatVerdict:
        """Return the verdict of the repeat whose answer is shown."""
        matches = (verdict for verdict in self.verdicts if verdict.repeat == self.repeat)
        return next(matches, self.verdicts[0])

    @property
    def n_right(self) -> int:
        """Return how many repeats are right."""
        return sum(verdict.group == "right" for verdict in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuery:
    """What a page of samples is asked for."""

    filter: ResultFilter
    typed: str
    order: str = ""
    """One of `ORDERS`; empty: as the dataset."""
    after: Position | None = None
    """The page after this answer."""
    before: Position | None = None
    """The page before this answer."""

    @property
    def is_narrowed(self) -> bool:
        """Return whether some samples are left out."""
        return not self.filter.is_empty or bool(self.typed)

    @property
    def is_plain(self) -> bool:
        """Return whether it asks for every sample in the order of the dataset."""
        return not self.is_narrowed and not self.order


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePage:
    """A page of samples."""

    rows: Sequence[SampleRow] = ()
    has_earlier: bool = False
    has_later: bool = False
    n_found: int | None = None
    """Matching results, None without a filter."""
    seconds: float | None = None
    """What the search took."""
    problem: str = ""
    choices: Mapping[str, Sequence[tuple[str, int]]]
    """By filter: its values with the number of their results."""


def sample_page(
    run: FoundRun, benchmark: BenchmarkSummary, state: IndexState, query: SampleQuery
) -> SamplePage:
    """Return a page.

    Raises:
        NelError: The run cannot be read.
    """
    choices = _choices(state, benchmark)
    if query.is_plain:
        return _plain_page(run, benchmark, query, choices)
    started = time.perf_counter()
    try:
        with Index(state.path) as index:
            search = index.search(query.filter, query.typed, query.order)
            if search is None:
                is_empty = query_of(conditions_of(query.typed)[0]) is None
                why = "the search needs a letter or a digit" if is_empty else ""
                return SamplePage(n_found=0, problem=why, choices=choices)
            n_found = index.count(benchmark.key, search) if query.is_narrowed else None
            # One more than a page has: it tells whether another page follows.
            groups = index.questions(
                benchmark.key, search, after=query.after, before=query.before, n_max=PAGE + 1
            )
    except INDEX_FAULTS:
        why = "the index of this run is not there yet; its filters and its search come with it"
        return SamplePage(problem=why, choices=choices)
    seconds = time.perf_counter() - started
    is_back = query.before is not None
    has_more = len(groups) > PAGE
    groups = groups[-PAGE:] if is_back else groups[:PAGE]
    matches = [(group[0].idx, [key.repeat for key in group]) for group in groups]
    with BrowsedStore(run.store) as store:
        rows = _rows(store, benchmark, matches)
    return SamplePage(
        rows=rows,
        has_earlier=has_more if is_back else query.after is not None,
        has_later=is_back or has_more,
        n_found=n_found,
        seconds=seconds,
        choices=choices,
    )


def neighbours(
    run: FoundRun,
    benchmark: BenchmarkSummary,
    state: IndexState,
    query: SampleQuery,
    position: Position,
) -> tuple[Position | None, Position | None]:
    """Return what is before and after an answer among those of a query, None at an end."""
    if query.is_plain:
        idx = position[0]
        with BrowsedStore(run.store) as store:
            before = store.samples_before(benchmark.key, idx, 1)
            after = next(store.samples(benchmark.key, first=idx + 1), None)
        previous = (before[0].idx, 0) if before else None
        return previous, None if after is None else (after.idx, 0)
    with suppress(*INDEX_FAULTS), Index(state.path) as index:
        search = index.search(query.filter, query.typed, query.order)
        if search is not None:
            earlier = index.questions(benchmark.key, search, before=position, n_max=1)
            later = index.questions(benchmark.key, search, after=position, n_max=1)
            return _first_of(earlier), _first_of(later)
    return None, None


def _first_of(questions: Iterable[Sequence[ResultKey]]) -> Position | None:
    """Return the first answer to the first question, None where there is none."""
    for key, *_ in questions:
        return key.idx, key.repeat
    return None


def _plain_page(
    run: FoundRun,
    benchmark: BenchmarkSummary,
    query: SampleQuery,
    choices: Mapping[str, Sequence[tuple[str, int]]],
) -> SamplePage:
    with BrowsedStore(run.store) as store:
        if query.before is not None:
            # The nearest come first.
            samples = store.samples_before(benchmark.key, query.before[0], PAGE + 1)
            has_earlier, has_later = len(samples) > PAGE, True
            samples = samples[:PAGE][::-1]
        else:
            start = 0 if query.after is None else query.after[0] + 1
            samples = list(islice(store.samples(benchmark.key, first=start), PAGE + 1))
            has_earlier, has_later = query.after is not None, len(samples) > PAGE
            samples = samples[:PAGE]
        rows = _rows(store, benchmark, [(sample.idx, None) for sample in samples])
    return SamplePage(rows=rows, has_earlier=has_earlier, has_later=has_later, choices=choices)


def _rows(
    store: BrowsedStore,
    benchmark: BenchmarkSummary,
    matches: Iterable[tuple[int, Sequence[int] | None]],
) -> list[SampleRow]:
    omitted, price = left_out(store, benchmark.key), store.price
    rows = []
    for idx, repeats in matches:
        stored = list(results(store, benchmark.key, benchmark.repeats, first=idx, last=idx))
        rows.append(_row(stored, repeats, omitted, price))
    return rows


def _row(
    stored_results: Sequence[StoredResult],
    matches: Sequence[int] | None,
    omitted: LeftOut,
    price: Price | None,
) -> SampleRow:
    verdicts = [verdict_of(result_row, omitted, matches) for result_row in stored_results]
    repeat = matches[0] if matches else 0
    candidates = (result_row for result_row in stored_results if result_row.repeat == repeat)
    opened = next(candidates, stored_results[0])
    try:
        result = read_result(opened, price=price)
    except StoreError as error:
        return SampleRow(
            idx=opened.sample.idx,
            sample_id=opened.sample.sample_id,
            question=str(error),
            answer="",
            extracted=None,
            target=None,
            category=None,
            verdicts=verdicts,
            repeat=repeat,
            numbers={},
        )
    sample, outcome = result.sample, result.outcome
    # A bad row has no sample; then the reason stands where the question would.
    question = opened.sample.fault or ""
    target: object = None
    category: object = None
    if sample is not None:
        question = cut(asked_in(sample), _GIST)
        target = sample.target
        category = category_of(sample.metadata, sample.subset)
    options = options_of(sample)
    if options is not None and options.expected:
        target = options.in_words(options.expected)
    detail = outcome.detail if isinstance(outcome, Unscored) else ""
    numbers = {}
    if result.response is not None and result.idx not in omitted:
        numbers = numbers_of(result, measures_of(result.response, price))
    return SampleRow(
        idx=result.idx,
        sample_id=result.sample_id,
        question=question,
        answer=_gist(result.response, detail),
        extracted=_cut_to(_GIST, extracted_text(outcome)),
        target=_cut_to(_GIST, target),
        category=_cut_to(_CATEGORY_MAX, category),
        verdicts=verdicts,
        repeat=repeat,
        numbers=numbers,
    )


def extracted_text(outcome: Outcome) -> Any:  # a text, or what a scorer gives instead
    """Return what was read of an answer, as a page shows it; None of an unscored one."""
    if isinstance(outcome, Unscored):
        return None
    return read_answer(outcome.answer, outcome.details)


def _cut_to(n_characters: int, value: object) -> str | None:
    return None if value is None else cut(value, n_characters)


def verdict_of(
    stored: StoredResult, omitted: LeftOut, matches: Sequence[int] | None = None
) -> RepeatVerdict:
    """Return what came of a repeat.

    Args:
        stored: As run.db has it.
        omitted: What a stop rule left out of the benchmark.
        matches: The repeats that a filter and a search found; all without it.
    """
    reward = None
    if stored.sample.idx in omitted:
        group, kind = "not_asked", ""
    elif stored.outcome is None and stored.sample.fault is None:
        group, kind = "pending", ""
    else:
        try:
            result = read_result(StoredResult(stored.sample, stored.repeat, None, stored.outcome))
            group, kind = group_of(result), failure_kind(result) or ""
            reward = getattr(result.outcome, "reward", None)
        except StoreError:
            group, kind = "unscored", "damaged"
    return RepeatVerdict(
        repeat=stored.repeat,
        group=group,
        kind=kind,
        reward=reward,
        is_match=matches is None or stored.repeat in matches,
    )


def _gist(response: Response | None, detail: str) -> str:
    """Return the end of an answer, where its conclusion stands, on one line."""
    if response is None or response.error is not None:
        return cut(detail, _GIST)
    text = response.text
    return cut(text if len(text) <= _GIST else f"…{text[-_GIST:]}", _GIST + 1)


def _choices(
    state: IndexState, benchmark: BenchmarkSummary
) -> dict[str, Sequence[tuple[str, int]]]:
    outcomes, kinds, categories = Counter[str](), Counter[str](), Counter[str]()
    with suppress(*INDEX_FAULTS), Index(state.path) as index:
        for outcome, kind, category, n in index.counts(benchmark.key):
            for counter, value in ((outcomes, outcome), (kinds, kind), (categories, category)):
                counter[value] += n
    for counter in (kinds, categories):
        del counter[""]
    return {
        "outcome": [(group, outcomes[group]) for group in GROUPS if outcomes[group]],
        "kind": kinds.most_common(_NAMES_MAX),
        "category": sorted(categories.items())[:_NAMES_MAX],
    }
