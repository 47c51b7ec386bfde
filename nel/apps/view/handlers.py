"""The routes of the app: a request in, a page or JSON out. What reads files runs in threads."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from aiohttp import web

from nel.apps.view.assets import assets
from nel.apps.view.comparing import (
    PAGE,
    RUNS_MAX,
    BenchmarkRow,
    Comparisons,
    FlipRow,
    trade_offs,
    with_baseline_first,
)
from nel.apps.view.finding import FoundRun, find_runs
from nel.apps.view.index.building import WAIT_SECONDS, IndexState, Indices
from nel.apps.view.index.database import INDEX_FAULTS, ORDERS, Filter, Index, Position
from nel.apps.view.live import live_runs, status_json, status_of
from nel.apps.view.notes import notes_of, read_notes, write_notes
from nel.apps.view.pages import address, render
from nel.apps.view.ratings import (
    Rating,
    add_rating,
    rating_fields,
    ratings_of,
    ratings_path,
    read_ratings,
)
from nel.apps.view.run_page import benchmark_page
from nel.apps.view.sample import sample_json, sample_view
from nel.apps.view.samples import Wanted, neighbours
from nel.apps.view.samples import sample_page as sample_rows
from nel.apps.view.security import ACCESS
from nel.apps.view.summary import BenchmarkSummary, RunSummary, Summaries
from nel.apps.view.table import DEFAULT, ROWS_MAX, chosen, ordered, rows_of
from nel.apps.view.transcript import whole_output
from nel.comparison.fields import PARTS
from nel.core.strict_json import dumps_bytes, loads, pretty
from nel.engine.store.browsing import BrowsedStore
from nel.errors import NelError
from nel.reports.choices import Confusion, confusion_of
from nel.reports.distributions import MEASURES, Chart, chart_of

_LOOK_AGAIN_SECONDS: Final = 5.0
_DIGITS_MAX: Final = 12
_SIDES_MIN: Final = 2
_JUMP: Final = re.compile(r"#([0-9]{1,9})")
"""What is typed to go to a sample by its number."""


@dataclass(slots=True, kw_only=True)
class Library:
    """The runs that are shown."""

    directories: Sequence[Path]
    cache: Path
    """Where indices of samples are kept."""
    wait_seconds: float = WAIT_SECONDS
    """How long a page waits for an index."""
    summaries: Summaries = field(init=False)
    comparisons: Comparisons = field(default_factory=Comparisons)
    indices: Indices = field(init=False)
    _seen: tuple[float, dict[str, FoundRun]] = (0.0, {})

    def __post_init__(self) -> None:
        """Build no index yet."""
        self.indices = Indices(self.cache, wait_seconds=self.wait_seconds)
        self.summaries = Summaries(wait_seconds=self.wait_seconds)

    def close(self) -> None:
        """Stop what works in the background."""
        self.summaries.close()
        self.indices.close()

    def runs(self) -> dict[str, FoundRun]:
        """Return the runs that are there now, by id."""
        self._seen = (time.monotonic(), find_runs(self.directories))
        return self._seen[1]

    def run(self, name: str) -> FoundRun | None:
        """Return a run by its id; the directories are looked through again at most every few
        seconds.
        """
        seen, runs = self._seen
        run = runs.get(name)
        if run is None or time.monotonic() - seen > _LOOK_AGAIN_SECONDS or not run.store.is_file():
            run = self.runs().get(name)
        return run


LIBRARY: Final = web.AppKey("nel_view_library", Library)


def routes(base: str) -> list[web.RouteDef]:
    """Return the routes below a path."""
    return [
        web.get(f"{base}/", runs_page),
        web.get(f"{base}/static/{{name}}", static_file),
        web.get(f"{base}/runs/{{run}}", run_page),
        web.get(f"{base}/runs/{{run}}/{{benchmark}}", samples_page),
        web.get(f"{base}/runs/{{run}}/{{benchmark}}/{{idx:[0-9]+}}", sample_page),
        web.get(f"{base}/runs/{{run}}/{{benchmark}}/{{idx:[0-9]+}}.json", sample_file),
        web.get(f"{base}/runs/{{run}}/{{benchmark}}/{{idx:[0-9]+}}/output.txt", output_file),
        web.get(f"{base}/runs/{{run}}/{{benchmark}}/ratings.jsonl", ratings_file),
        web.get(f"{base}/runs/{{run}}/{{benchmark}}/id/{{sample:.+}}", sample_by_id),
        web.get(f"{base}/compare", compare_page),
        web.get(f"{base}/api/live", live),
        web.get(f"{base}/api/runs/{{run}}/live", live_run),
        web.get(f"{base}/api/runs/{{run}}/index", index_state),
        web.post(f"{base}/api/runs/{{run}}/notes", save_notes),
        web.post(f"{base}/api/runs/{{run}}/{{benchmark}}/{{idx:[0-9]+}}/rating", save_rating),
    ]


async def static_file(request: web.Request) -> web.Response:
    """Serve one of the package's own files."""
    asset = assets().get(request.match_info["name"])
    if asset is None:
        raise web.HTTPNotFound(text="there is no such file")
    return web.Response(
        body=asset.content,
        content_type=asset.content_type,
        charset="utf-8",
        headers={"Cache-Control": "private, max-age=31536000, immutable"},
    )


async def runs_page(request: web.Request) -> web.Response:
    """Show the table of runs."""
    return await page(request, _runs_page)


async def run_page(request: web.Request) -> web.Response:
    """Show one run."""
    return await page(request, _run_page)


async def samples_page(request: web.Request) -> web.Response:
    """Show a page of the samples of a benchmark."""
    jump = _JUMP.fullmatch(request.query.get("q", "").strip())
    if jump is not None:
        where = (request.match_info["run"], request.match_info["benchmark"], int(jump[1]))
        raise web.HTTPSeeOther(address(request.app[ACCESS].base_path, "runs", *where))
    return await page(request, _samples_page)


async def sample_page(request: web.Request) -> web.Response:
    """Show one answer to one question."""
    return await page(request, _sample_page)


async def sample_file(request: web.Request) -> web.Response:
    """Send one answer as JSON to keep."""
    found, (idx, repeat) = await asyncio.to_thread(_sample_file, request), _position(request)
    return _download(pretty(found), f"sample-{idx}-{repeat}.json", "application/json")


async def output_file(request: web.Request) -> web.Response:
    """Send the whole output of a call that was cut for the model."""
    text = await asyncio.to_thread(_output_file, request)
    return web.Response(text=text, content_type="text/plain", charset="utf-8")


async def ratings_file(request: web.Request) -> web.Response:
    """Send the ratings of a benchmark as the file that they are in."""
    path = await asyncio.to_thread(_ratings_path, request)
    try:
        content = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise web.HTTPNotFound(text="no answer of this benchmark was rated") from error
    return _download(content, path.name, "application/jsonl")


async def sample_by_id(request: web.Request) -> web.Response:
    """Redirect to a sample that is named by its id."""
    raise web.HTTPSeeOther(await asyncio.to_thread(_address_of_id, request))


async def index_state(request: web.Request) -> web.Response:
    """Say how far the index of a run is."""
    run = await asyncio.to_thread(found_run, request)
    return json_response(index_json(await asyncio.to_thread(request.app[LIBRARY].indices.of, run)))


async def compare_page(request: web.Request) -> web.Response:
    """Show runs side by side."""
    return await page(request, _compare_page)


async def live(request: web.Request) -> web.Response:
    """Say how far the runs in progress are."""
    library = request.app[LIBRARY]

    def read() -> dict[str, Any]:
        return {"runs": live_runs(library.runs().values(), library.summaries)}

    return json_response(await asyncio.to_thread(read))


async def live_run(request: web.Request) -> web.Response:
    """Say how far one run is."""

    def read() -> dict[str, Any]:
        status = status_of(found_run(request), request.app[LIBRARY].summaries)
        return {"line": "its answers are being counted"} if status is None else status_json(status)

    return json_response(await asyncio.to_thread(read))


async def save_notes(request: web.Request) -> web.Response:
    """Keep the tags and the note of a run."""

    def save(fields: Any) -> None:
        write_notes(found_run(request).path, notes_of(fields))

    return await _saved(request, save)


async def save_rating(request: web.Request) -> web.Response:
    """Keep what a person says of an answer."""

    def save(fields: Any) -> None:
        rating = rating_fields(fields)
        line = _sample_file(request)
        add_rating(
            _ratings_path(request),
            Rating(
                sample_id=line["sample_id"],
                repeat=line["repeat"],
                response=line["model_response"] or "",
                **rating,
            ),
        )

    return await _saved(request, save)


async def _saved(request: web.Request, save: Callable[[Any], None]) -> web.Response:
    """Save the JSON that a page sends; what cannot be saved is an error of the request."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="send JSON")
    try:
        await asyncio.to_thread(save, loads(await request.read()))
    except (ValueError, NelError) as error:
        raise web.HTTPBadRequest(text=str(error)) from error
    return json_response({"is_saved": True})


def _download(content: bytes, name: str, content_type: str) -> web.Response:
    """Return a file that the browser saves under a name."""
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return web.Response(body=content, content_type=content_type, charset="utf-8", headers=headers)


def _position(request: web.Request) -> Position:
    """Return the sample and the repeat that an address names."""
    idx = whole_number(request.match_info["idx"])
    if idx is None:
        raise web.HTTPNotFound(text="this benchmark has no such sample")
    return idx, whole_number(request.query.get("repeat", "0")) or 0


def _sample_file(request: web.Request) -> dict[str, Any]:
    run = found_run(request)
    benchmark = benchmark_of(request, summary_of(request, run))
    line = sample_json(run, benchmark, *_position(request))
    if line is None:
        raise web.HTTPNotFound(text="this benchmark has no such sample")
    return line


def _output_file(request: web.Request) -> str:
    run = found_run(request)
    benchmark = benchmark_of(request, summary_of(request, run))
    attempt, step = (whole_number(request.query.get(name, "")) for name in ("attempt", "step"))
    with BrowsedStore(run.store) as store:
        sample_key = (benchmark.key, *_position(request))
        text = whole_output(store, sample_key, attempt or 0, step or 0)
    if text is None:
        raise web.HTTPNotFound(text="this sample has no such step with an output")
    return text


def _ratings_path(request: web.Request) -> Path:
    run = found_run(request)
    return ratings_path(run.path, benchmark_of(request, summary_of(request, run)).address)


def _runs_page(request: web.Request) -> str:
    library = request.app[LIBRARY]
    words, tag, sort = (request.query.get(name, "").strip() for name in ("q", "tag", "sort"))
    runs = library.runs()
    rows = rows_of((library.summaries.of(run), read_notes(run.path)) for run in runs.values())
    matching = ordered(chosen(rows, words, tag), sort or DEFAULT)
    return render(
        "runs",
        base=request.app[ACCESS].base_path,
        rows=matching[:ROWS_MAX],
        n_rows=len(rows),
        n_found=len(matching),
        n_runs=len(runs),
        q=words,
        tag=tag,
        tags=sorted({label for row in rows for label in row.notes.tags}),
        sort=sort or DEFAULT,
        directories=", ".join(
            directory.name or str(directory) for directory in library.directories
        ),
    )


def _run_page(request: web.Request) -> str:
    run = found_run(request)
    summary = summary_of(request, run)
    state = request.app[LIBRARY].indices.of(run)
    indexed = {benchmark.key: indexed_of(state, benchmark.key) for benchmark in summary.benchmarks}
    return render(
        "run",
        base=request.app[ACCESS].base_path,
        run=summary,
        notes=read_notes(run.path),
        can_note=not request.app[ACCESS].is_read_only,
        benchmarks=[benchmark_page(summary, benchmark) for benchmark in summary.benchmarks],
        indexed=indexed,
        index=index_json(state),
    )


def _samples_page(request: web.Request) -> str:
    run = found_run(request)
    summary = summary_of(request, run)
    benchmark = benchmark_of(request, summary)
    state = request.app[LIBRARY].indices.of(run)
    wanted = wanted_of(request)
    rows = sample_rows(run, benchmark, state, wanted)
    return render(
        "samples",
        base=request.app[ACCESS].base_path,
        run=summary,
        benchmark=benchmark,
        wanted=wanted,
        page=rows,
        n_rated=len(read_ratings(_ratings_path(request))),
        index=index_json(state),
    )


def _sample_page(request: web.Request) -> str:
    run = found_run(request)
    summary = summary_of(request, run)
    benchmark = benchmark_of(request, summary)
    idx, repeat = _position(request)
    view = sample_view(run, benchmark, idx, repeat, whole="whole" in request.query)
    if view is None:
        raise web.HTTPNotFound(text="this benchmark has no such sample")
    wanted = wanted_of(request)
    state = request.app[LIBRARY].indices.of(run)
    before, after = neighbours(run, benchmark, state, wanted, (idx, repeat))
    ratings = read_ratings(_ratings_path(request))
    return render(
        "sample",
        base=request.app[ACCESS].base_path,
        run=summary,
        benchmark=benchmark,
        wanted=wanted,
        sample=view,
        before=before,
        after=after,
        ratings=ratings_of(ratings, view.result.sample_id, repeat),
        can_note=not request.app[ACCESS].is_read_only,
    )


def _compared_runs(request: web.Request) -> tuple[list[RunSummary], str]:
    """Return the runs that an address compares, the baseline first, and why it is the baseline."""
    ids = dict.fromkeys(request.query.getall("run", []))
    if not _SIDES_MIN <= len(ids) <= RUNS_MAX:
        raise web.HTTPBadRequest(
            text=f"two to {RUNS_MAX} runs are compared; select them in the table of runs"
        )
    runs = [request.app[LIBRARY].run(name) for name in ids]
    if None in runs:
        raise web.HTTPNotFound(text="there is no such run here; it may have been moved or removed")
    return with_baseline_first(
        [summary_of(request, run) for run in runs if run is not None],
        request.query.get("baseline", ""),
    )


def _compare_page(request: web.Request) -> str:
    runs, why = _compared_runs(request)
    despite = [
        field_name for field_name in PARTS if field_name in request.query.getall("despite", [])
    ]
    comparison = request.app[LIBRARY].comparisons.of(runs, despite)
    wanted = request.query.get("bench", "")
    selected = next(
        (benchmark for benchmark in comparison.benchmarks if benchmark.address == wanted),
        next(iter(comparison.benchmarks), None),
    )
    only = request.query.get("only", "")
    page_number = max((whole_number(request.query.get("page", "")) or 1) - 1, 0)
    flips = [] if selected is None else flips_of(selected, only)
    return render(
        "compare",
        base=request.app[ACCESS].base_path,
        runs=runs,
        why=why,
        here={
            "run": [run.run.id for run in runs],
            "despite": despite,
            "baseline": request.query.get("baseline", ""),
        },
        parts=PARTS,
        comparison=comparison,
        selected=selected,
        trade_offs=[] if selected is None else trade_offs(runs, selected.address),
        only=only,
        flips=flips[page_number * PAGE : (page_number + 1) * PAGE],
        page_number=page_number,
        has_later=len(flips) > (page_number + 1) * PAGE,
    )


def flips_of(benchmark: BenchmarkRow, only: str) -> list[FlipRow]:
    """Return the questions that changed: ``lost``, ``won`` or all of them."""
    return [
        flip
        for flip in benchmark.flips
        if only not in ("lost", "won") or (flip.is_loss if only == "lost" else flip.is_win)
    ]


def _address_of_id(request: web.Request) -> str:
    run = found_run(request)
    benchmark = benchmark_of(request, summary_of(request, run))
    with BrowsedStore(run.store) as store:
        idx = store.idx_of(benchmark.key, request.match_info["sample"])
    if idx is None:
        raise web.HTTPNotFound(text="this benchmark has no sample of that id")
    return address(request.app[ACCESS].base_path, "runs", run.id, benchmark.address, idx)


def indexed_of(state: IndexState, key: int) -> tuple[list[Chart], Confusion | None]:
    """Return the distributions of a benchmark and its confusion matrix, as far as its index is
    built.
    """
    with suppress(*INDEX_FAULTS), Index(state.path) as index:
        bins = index.bins(key)
        charts = [chart_of(name, bins[name]) for name in MEASURES if name in bins]
        confusion = confusion_of(index.choices(key))
        return [chart for chart in charts if chart is not None], confusion
    return [], None


def wanted_of(request: web.Request) -> Wanted:
    """Return what the query of an address asks for."""
    filters = {
        name: request.query.get(name, "").strip()
        for name in ("outcome", "kind", "category", "choice")
    }
    order = request.query.get("sort", "")
    return Wanted(
        filter=Filter(**filters),
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


def index_json(state: IndexState) -> dict[str, Any]:
    """Return how far an index is."""
    return {
        "is_ready": state.is_ready,
        "n": state.n_indexed,
        "total": state.n_total,
        "seconds": round(state.seconds, 2),
        "problem": state.problem or None,
    }


def found_run(request: web.Request) -> FoundRun:
    """Return the run that the address names."""
    run = request.app[LIBRARY].run(request.match_info["run"])
    if run is None:
        raise web.HTTPNotFound(text="there is no such run here; it may have been moved or removed")
    return run


def summary_of(request: web.Request, run: FoundRun) -> RunSummary:
    """Return what is known of a run; one that cannot be read is an error."""
    summary = request.app[LIBRARY].summaries.of(run)
    if summary.problem is not None:
        raise web.HTTPUnprocessableEntity(text=f"this run cannot be read: {summary.problem}")
    return summary


def benchmark_of(request: web.Request, summary: RunSummary) -> BenchmarkSummary:
    """Return the benchmark that the address names."""
    benchmark = summary.benchmark(request.match_info["benchmark"])
    if benchmark is None:
        raise web.HTTPNotFound(text="this run has no such benchmark")
    return benchmark


async def page(request: web.Request, make: Callable[[web.Request], str]) -> web.Response:
    """Return the page that a function makes in a thread."""

    def made() -> str:
        with request.app[LIBRARY].indices.quiet.disturbed():
            return make(request)

    text = await asyncio.to_thread(made)
    return web.Response(text=text, content_type="text/html", charset="utf-8")


def json_response(value: Mapping[str, Any]) -> web.Response:
    """Return strict JSON."""
    return web.Response(body=dumps_bytes(value), content_type="application/json", charset="utf-8")
