"""The routes of the app: a request in, a page, JSON or a file out; threads read all files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from aiohttp import web
from pydantic import ValidationError

from nel.apps.view.addressed import (
    NO_SAMPLE,
    benchmark_of,
    line_of,
    position_of,
    ratings_path_of,
    run_of,
    run_of_id,
    sample_query_of,
    summary_of,
    whole_number,
)
from nel.apps.view.assets import assets
from nel.apps.view.comparing import (
    PAGE,
    RUNS_MAX,
    BenchmarkRow,
    FlipRow,
    compare_runs,
    trade_offs,
    with_baseline_first,
)
from nel.apps.view.index.building import IndexState
from nel.apps.view.index.database import INDEX_FAULTS, Index
from nel.apps.view.library import LIBRARY
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
from nel.apps.view.sample import sample_view
from nel.apps.view.samples import neighbours
from nel.apps.view.samples import sample_page as sample_rows
from nel.apps.view.security import ACCESS
from nel.apps.view.summary import RunSummary
from nel.apps.view.table import COLUMNS, DEFAULT, ROWS_MAX, filter_rows, rows_of, sort_rows
from nel.apps.view.transcript import whole_output
from nel.comparison.fields import PARTS
from nel.config.layers import first_problem
from nel.core.strict_json import dumps_bytes, loads, pretty
from nel.engine.store.browsing import BrowsedStore
from nel.errors import NelError
from nel.reports.choices import Confusion, confusion_of
from nel.reports.distributions import MEASURES, Chart, chart_of
from nel.reports.page import overview_of
from nel.reports.run_files import read_aggregates
from nel.reports.tables.headline import HeadlineRow
from nel.types import JsonObject, SampleKey

_SIDES_MIN: Final = 2
Respond: TypeAlias = Callable[[web.Request], web.Response]
Handler: TypeAlias = Callable[[web.Request], Awaitable[web.Response]]


def routes(base: str) -> list[web.RouteDef]:
    """Return the routes below a path."""
    benchmark = "/runs/{run}/{benchmark}"
    sample = f"{benchmark}/{{idx:[0-9]+}}"
    responses: dict[str, Respond] = {
        "/": _page("runs", _runs_page),
        "/static/{name}": _static_file,
        "/runs/{run}": _page("run", _run_page),
        benchmark: _page("samples", _samples_page),
        sample: _page("sample", _sample_page),
        f"{sample}.json": _sample_file,
        f"{sample}/output.txt": _output_file,
        f"{benchmark}/ratings.jsonl": _ratings_file,
        f"{benchmark}/id/{{sample:.+}}": _sample_by_id,
        "/compare": _page("compare", _compare_page),
        "/api/live": _live,
        "/api/runs/{run}/live": _live_run,
        "/api/runs/{run}/index": _index_state,
    }
    return [
        *(web.get(base + path, _in_thread(respond)) for path, respond in responses.items()),
        web.post(f"{base}/api/runs/{{run}}/notes", _saving(_save_notes)),
        web.post(f"{base}/api{sample}/rating", _saving(_save_rating)),
    ]


def _in_thread(respond: Respond) -> Handler:
    """Return a handler that makes its response in a thread, since it reads files."""

    async def handle(request: web.Request) -> web.Response:
        return await asyncio.to_thread(respond, request)

    return handle


def _page(name: str, values_of: Callable[[web.Request], Mapping[str, Any]]) -> Respond:

    def respond(request: web.Request) -> web.Response:
        text = render(name, base=request.app[ACCESS].base_path, **values_of(request))
        return web.Response(text=text, content_type="text/html", charset="utf-8")

    return respond


def _saving(save: Callable[[web.Request, Any], None]) -> Handler:
    """Return the handler that saves the JSON of a page; what it cannot save is a bad request."""

    async def handle(request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="send JSON")
        try:
            await asyncio.to_thread(save, request, loads(await request.read()))
        except ValidationError as error:
            raise web.HTTPBadRequest(text=first_problem(error)) from error
        except (ValueError, NelError) as error:
            raise web.HTTPBadRequest(text=str(error)) from error
        return _json({"is_saved": True})

    return handle


def _json(value: JsonObject) -> web.Response:
    return web.Response(body=dumps_bytes(value), content_type="application/json", charset="utf-8")


def _download(content: bytes, name: str, content_type: str) -> web.Response:
    """Return a file that the browser saves under a name."""
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return web.Response(body=content, content_type=content_type, charset="utf-8", headers=headers)


def _static_file(request: web.Request) -> web.Response:
    asset = assets().get(request.match_info["name"])
    if asset is None:
        raise web.HTTPNotFound(text="there is no such file")
    return web.Response(
        body=asset.content,
        content_type=asset.content_type,
        charset="utf-8",
        headers={"Cache-Control": "private, max-age=31536000, immutable"},
    )


def _sample_file(request: web.Request) -> web.Response:
    idx, repeat = position_of(request)
    return _download(pretty(line_of(request)), f"sample-{idx}-{repeat}.json", "application/json")


def _output_file(request: web.Request) -> web.Response:
    """Send the whole output of a call that was cut for the model."""
    run, _, benchmark = benchmark_of(request)
    attempt, step = (whole_number(request.query.get(name, "")) for name in ("attempt", "step"))
    with BrowsedStore(run.store) as store:
        sample_key = SampleKey(benchmark.key, *position_of(request))
        text = whole_output(store, sample_key, attempt or 0, step or 0)
    if text is None:
        raise web.HTTPNotFound(text="this sample has no such step with an output")
    return web.Response(text=text, content_type="text/plain", charset="utf-8")


def _ratings_file(request: web.Request) -> web.Response:
    path = ratings_path_of(request)
    try:
        return _download(path.read_bytes(), path.name, "application/jsonl")
    except OSError as error:
        raise web.HTTPNotFound(text="no answer of this benchmark was rated") from error


def _sample_by_id(request: web.Request) -> web.Response:
    """Redirect to a sample that is named by its id."""
    run, _, benchmark = benchmark_of(request)
    with BrowsedStore(run.store) as store:
        idx = store.idx_of(benchmark.key, request.match_info["sample"])
    if idx is None:
        raise web.HTTPNotFound(text="this benchmark has no sample of that id")
    where = (run.id, benchmark.address, idx)
    raise web.HTTPSeeOther(address(request.app[ACCESS].base_path, "runs", *where))


def _live(request: web.Request) -> web.Response:
    library = request.app[LIBRARY]
    return _json({"runs": live_runs(library.runs().values(), library.summaries)})


def _live_run(request: web.Request) -> web.Response:
    status = status_of(run_of(request), request.app[LIBRARY].summaries)
    return _json({"line": "it cannot be read now"} if status is None else status_json(status))


def _index_state(request: web.Request) -> web.Response:
    state = asdict(request.app[LIBRARY].indices.of(run_of(request)))
    del state["path"]
    return _json(state)


def _save_notes(request: web.Request, fields: Any) -> None:
    write_notes(run_of(request).path, notes_of(fields))


def _save_rating(request: web.Request, fields: Any) -> None:
    rating, line = rating_fields(fields), line_of(request)
    add_rating(
        ratings_path_of(request),
        Rating(
            sample_id=line["sample_id"],
            repeat=line["repeat"],
            response=line["model_response"] or "",
            **rating,
        ),
    )


def _runs_page(request: web.Request) -> dict[str, Any]:
    library = request.app[LIBRARY]
    words, tag, sort = (request.query.get(name, "").strip() for name in ("q", "tag", "sort"))
    runs = library.runs()
    rows = rows_of((library.summaries.of(run), read_notes(run.path)) for run in runs.values())
    matching = sort_rows(filter_rows(rows, words, tag), sort or DEFAULT)
    return {
        "columns": COLUMNS,
        "rows": matching[:ROWS_MAX],
        "n_rows": len(rows),
        "n_found": len(matching),
        "n_runs": len(runs),
        "q": words,
        "tag": tag,
        "tags": sorted({label for row in rows for label in row.notes.tags}),
        "sort": sort or DEFAULT,
        "directories": ", ".join(
            directory.name or str(directory) for directory in library.directories
        ),
    }


def _run_page(request: web.Request) -> dict[str, Any]:
    run = run_of(request)
    summary = summary_of(request, run)
    state = request.app[LIBRARY].indices.of(run)
    return {
        "run": summary,
        "notes": read_notes(run.path),
        "can_note": not request.app[ACCESS].is_read_only,
        "aggregates": overview_of((), read_aggregates(run.path)),
        "benchmarks": [
            benchmark_page(summary, benchmark, _category_link(request, run.id, benchmark.address))
            for benchmark in summary.benchmarks
        ],
        "indexed": {item.key: _from_index(state, item.key) for item in summary.benchmarks},
        "index": state,
    }


def _category_link(
    request: web.Request, run_id: str, benchmark: str
) -> Callable[[HeadlineRow], str]:
    """Return a function from a category to the URL of its samples."""
    base = request.app[ACCESS].base_path
    return lambda row: address(base, "runs", run_id, benchmark, category=row.metric)


def _samples_page(request: web.Request) -> dict[str, Any]:
    run, summary, benchmark = benchmark_of(request)
    state = request.app[LIBRARY].indices.of(run)
    query = sample_query_of(request)
    return {
        "run": summary,
        "benchmark": benchmark,
        "query": query,
        "page": sample_rows(run, benchmark, state, query),
        "n_rated": len(read_ratings(ratings_path(run.path, benchmark.address))),
        "index": state,
    }


def _sample_page(request: web.Request) -> dict[str, Any]:
    run, summary, benchmark = benchmark_of(request)
    idx, repeat = position_of(request)
    view = sample_view(run, benchmark, idx, repeat)
    if view is None:
        raise web.HTTPNotFound(text=NO_SAMPLE)
    query = sample_query_of(request)
    state = request.app[LIBRARY].indices.of(run)
    before, after = neighbours(run, benchmark, state, query, (idx, repeat))
    ratings = read_ratings(ratings_path(run.path, benchmark.address))
    return {
        "run": summary,
        "benchmark": benchmark,
        "query": query,
        "sample": view,
        "before": before,
        "after": after,
        "ratings": ratings_of(ratings, view.result.sample_id, repeat),
        "can_note": not request.app[ACCESS].is_read_only,
    }


def _compared_runs(request: web.Request) -> tuple[list[RunSummary], str]:
    """Return the runs that an address compares, the baseline first, and why it is the baseline."""
    ids = dict.fromkeys(request.query.getall("run", []))
    if not _SIDES_MIN <= len(ids) <= RUNS_MAX:
        raise web.HTTPBadRequest(
            text=f"two to {RUNS_MAX} runs are compared; select them in the table of runs"
        )
    runs = [summary_of(request, run_of_id(request, name)) for name in ids]
    return with_baseline_first(runs, request.query.get("baseline", ""))


def _compare_page(request: web.Request) -> dict[str, Any]:
    runs, why = _compared_runs(request)
    despite = [name for name in PARTS if name in request.query.getall("despite", [])]
    comparison = compare_runs(request.app[LIBRARY].comparisons, runs, despite)
    selected = _selected_benchmark(comparison.benchmarks, request.query.get("bench", ""))
    change = request.query.get("only", "")
    # Pages are numbered from 1 in addresses and from 0 here.
    page_number = max((whole_number(request.query.get("page", "")) or 1) - 1, 0)
    flips = [] if selected is None else _flips(selected, change)
    return {
        "runs": runs,
        "why": why,
        "here": {
            "run": [run.run.id for run in runs],
            "despite": despite,
            "baseline": request.query.get("baseline", ""),
        },
        "parts": PARTS,
        "comparison": comparison,
        "selected": selected,
        "trade_offs": [] if selected is None else trade_offs(runs, selected.address),
        "only": change,
        "flips": flips[page_number * PAGE : (page_number + 1) * PAGE],
        "page_number": page_number,
        "has_later": len(flips) > (page_number + 1) * PAGE,
    }


def _selected_benchmark(benchmarks: Sequence[BenchmarkRow], name: str) -> BenchmarkRow | None:
    """Return the benchmark that an address names, else the first; None without any."""
    for benchmark in benchmarks:
        if benchmark.address == name:
            return benchmark
    return benchmarks[0] if benchmarks else None


def _flips(benchmark: BenchmarkRow, change: str) -> list[FlipRow]:
    """Return the questions that changed: ``lost``, ``won`` or all of them."""
    if change == "lost":
        return [flip for flip in benchmark.flips if flip.is_loss]
    if change == "won":
        return [flip for flip in benchmark.flips if flip.is_win]
    return list(benchmark.flips)


def _from_index(state: IndexState, key: int) -> tuple[list[Chart], Confusion | None]:
    """Return a benchmark's distributions and confusion matrix, as far as its index is built."""
    with suppress(*INDEX_FAULTS), Index(state.path) as index:
        bins = index.bins(key)
        charts = [chart_of(name, bins[name]) for name in MEASURES if name in bins]
        confusion = confusion_of(index.choices(key))
        return [chart for chart in charts if chart is not None], confusion
    return [], None
