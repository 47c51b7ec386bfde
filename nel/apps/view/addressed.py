"""What the address of a request names: a run, a benchmark, an answer, or answers to list."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from aiohttp import web

from nel.apps.view.finding import FoundRun
from nel.apps.view.index.database import ORDERS, Position, ResultFilter
from nel.apps.view.library import LIBRARY
from nel.apps.view.ratings import ratings_path
from nel.apps.view.sample import sample_json
from nel.apps.view.samples import SampleQuery
from nel.apps.view.summary import BenchmarkSummary, RunSummary

_DIGITS_MAX: Final = 12
NO_SAMPLE: Final = "this benchmark has no such sample"


def sample_query_of(request: web.Request) -> SampleQuery:
    """Return the samples that the query of an address asks for."""
    filters = {
        name: request.query.get(name, "").strip()
        for name in ("outcome", "kind", "category", "choice")
    }
    order = request.query.get("sort", "")
    return SampleQuery(
        filter=ResultFilter(**filters),
        typed=request.query.get("q", "").strip(),
        order=order if order in ORDERS else "",
        after=_mark(request.query.get("after", "")),
        before=_mark(request.query.get("before", "")),
    )


def _mark(text: str) -> Position | None:
    """Return the answer at which a page begins or ends: ``SAMPLE`` or ``SAMPLE.REPEAT``."""
    numbers = [whole_number(number) for number in text.split(".", 1)]
    idx, repeat = numbers[0], numbers[-1] if len(numbers) > 1 else 0
    return None if idx is None or repeat is None else (idx, repeat)


def whole_number(text: str) -> int | None:
    """Return a number of an address, None where it is none or too large to be a position."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX else None


def run_of(request: web.Request) -> FoundRun:
    """Return the run that the address names."""
    return run_of_id(request, request.match_info["run"])


def run_of_id(request: web.Request, name: str) -> FoundRun:
    """Return a run by its id."""
    run = request.app[LIBRARY].run(name)
    if run is None:
        raise web.HTTPNotFound(text="there is no such run here; it may have been moved or removed")
    return run


def summary_of(request: web.Request, run: FoundRun) -> RunSummary:
    """Return what is known of a run; one that cannot be read is an error."""
    summary = request.app[LIBRARY].summaries.of(run)
    if summary.problem is not None:
        raise web.HTTPUnprocessableEntity(text=f"this run cannot be read: {summary.problem}")
    return summary


def benchmark_of(request: web.Request) -> tuple[FoundRun, RunSummary, BenchmarkSummary]:
    """Return the run and the benchmark that the address names."""
    run = run_of(request)
    summary = summary_of(request, run)
    benchmark = summary.benchmark(request.match_info["benchmark"])
    if benchmark is None:
        raise web.HTTPNotFound(text="this run has no such benchmark")
    return run, summary, benchmark


def position_of(request: web.Request) -> Position:
    """Return the sample and the repeat that an address names."""
    idx = whole_number(request.match_info["idx"])
    if idx is None:
        raise web.HTTPNotFound(text=NO_SAMPLE)
    return idx, whole_number(request.query.get("repeat", "0")) or 0


def line_of(request: web.Request) -> dict[str, Any]:
    """Return the line of results.jsonl of the answer that the address names."""
    run, _, benchmark = benchmark_of(request)
    line = sample_json(run, benchmark, *position_of(request))
    if line is None:
        raise web.HTTPNotFound(text=NO_SAMPLE)
    return line


def ratings_path_of(request: web.Request) -> Path:
    """Return where the ratings of the benchmark that the address names are."""
    run, _, benchmark = benchmark_of(request)
    return ratings_path(run.path, benchmark.address)
