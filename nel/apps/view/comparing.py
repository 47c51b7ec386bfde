"""Two runs side by side: the comparison of `nel compare`, and the questions whose score changed
with both answers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nel.apps.view.pages import cut
from nel.apps.view.summary import RunSummary, stamp_of
from nel.artifacts.files import directory_name
from nel.comparison.compare import compare
from nel.comparison.document import comparison_json
from nel.comparison.fields import PARTS
from nel.comparison.measures import Settings
from nel.comparison.nel_runs import read_side
from nel.errors import NelError
from nel.reports.comparison import interval, lines, p_text, points, score, settings_lines
from nel.reports.samples import question_in
from nel.reports.text import as_text

FLIPS_MAX: Final = 1_000
PAGE: Final = 25
_KEPT_MAX: Final = 4
_TEXT_MAX: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One side of a question that changed."""

    score: float
    response: str
    extracted: str | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRow:
    """A question whose score changed."""

    sample_id: str
    category: str | None
    question: str
    expected: str | None
    is_loss: bool
    baseline: Answer
    candidate: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRow:
    """One benchmark of both runs."""

    name: str
    address: str
    verdict: str
    cells: Mapping[str, str]
    lines: Sequence[str]
    n_lost: int
    n_won: int
    flips: Sequence[FlipRow]
    """All that are held, of both kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """Two runs side by side, or why they are not."""

    problem: str = ""
    benchmarks: Sequence[BenchmarkRow] = ()
    settings: Sequence[str] = ()


class Comparisons:
    """Compares runs, and keeps the last few comparisons."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: OrderedDict[object, ComparisonView] = OrderedDict()
        self._lock = threading.Lock()

    def of(
        self, baseline: RunSummary, candidate: RunSummary, despite: Sequence[str]
    ) -> ComparisonView:
        """Return the comparison; one after another, since each holds a column of every result in
        memory.
        """
        parts = tuple(field_name for field_name in PARTS if field_name in despite)
        stamp = (
            baseline.run.path,
            stamp_of(baseline.run),
            candidate.run.path,
            stamp_of(candidate.run),
            parts,
        )
        with self._lock:
            if stamp not in self._kept:
                self._kept[stamp] = _compared(baseline, candidate, frozenset(parts))
                while len(self._kept) > _KEPT_MAX:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(stamp)
            return self._kept[stamp]


def _compared(
    baseline: RunSummary, candidate: RunSummary, despite: frozenset[str]
) -> ComparisonView:
    try:
        sides = [read_side(side.run.path, side.run.id) for side in (baseline, candidate)]
        document = comparison_json(compare(sides, Settings(), despite=despite), flips_max=FLIPS_MAX)
    except NelError as error:
        return ComparisonView(problem=str(error))
    (side,) = document["candidates"]
    return ComparisonView(
        benchmarks=[_benchmark(benchmark) for benchmark in side["benchmarks"]],
        settings=list(settings_lines(side)),
    )


def _benchmark(benchmark: Mapping[str, Any]) -> BenchmarkRow:
    headline = benchmark["headline"]
    difference = headline["difference"]
    return BenchmarkRow(
        name=str(benchmark["benchmark"]),
        address=directory_name(str(benchmark["benchmark"])),
        verdict=str(headline["verdict"]),
        cells={
            "baseline": score(headline["baseline"], headline),
            "candidate": score(headline["candidate"], headline),
            "difference": points(None if difference is None else difference["value"], headline),
            "interval": interval(headline),
            "p": p_text(headline["p_adjusted"]),
        },
        lines=[line.strip() for line in lines(benchmark)],
        n_lost=benchmark["flips"]["n_lost"],
        n_won=benchmark["flips"]["n_won"],
        flips=[_flip(flip) for flip in benchmark["flips"]["shown"]],
    )


def _flip(flip: Mapping[str, Any]) -> FlipRow:
    expected = flip["expected"]
    return FlipRow(
        sample_id=flip["sample_id"],
        category=flip["category"],
        question=cut(question_in(flip["prompt"]), 600),
        expected=None if expected is None else cut(expected, 300),
        is_loss=flip["candidate"]["score"] < flip["baseline"]["score"],
        baseline=_answer(flip["baseline"]),
        candidate=_answer(flip["candidate"]),
    )


def _answer(side: Mapping[str, Any]) -> Answer:
    text = as_text(side["response"]) if side["response"] is not None else ""
    half = _TEXT_MAX // 2
    return Answer(
        score=side["score"],
        response=text if len(text) <= _TEXT_MAX else f"{text[:half]}\n\n[…]\n\n{text[-half:]}",
        extracted=side["extracted"],
        outcome=side["outcome"],
    )
