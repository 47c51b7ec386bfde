"""The routes of the app: a request in, a page or JSON out. What reads files runs in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from nel.core.strict_json import dumps_bytes, loads
from nel.errors import NelError
from nel.view.assets import assets
from nel.view.finding import FoundRun, find_runs
from nel.view.notes import notes_of, read_notes, write_notes
from nel.view.pages import render
from nel.view.run_page import benchmark_page
from nel.view.security import ACCESS
from nel.view.summary import BenchmarkSummary, RunSummary, Summaries
from nel.view.table import DEFAULT, ROWS_MAX, chosen, ordered, rows_of


@dataclass(slots=True, kw_only=True)
class Library:
    """The runs that are shown."""

    directories: Sequence[Path]
    cache: Path
    """Where indices of samples are kept."""
    summaries: Summaries = field(default_factory=Summaries)

    def runs(self) -> dict[str, FoundRun]:
        """Return the runs that are there now, by id."""
        return find_runs(self.directories)


LIBRARY: Final = web.AppKey("nel_view_library", Library)


def routes(base: str) -> list[web.RouteDef]:
    """Return the routes below a path."""
    return [
        web.get(f"{base}/", runs_page),
        web.get(f"{base}/static/{{name}}", static_file),
        web.get(f"{base}/runs/{{run}}", run_page),
        web.post(f"{base}/api/runs/{{run}}/notes", save_notes),
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


async def save_notes(request: web.Request) -> web.Response:
    """Keep the tags and the note of a run."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="send JSON")
    run = await asyncio.to_thread(found_run, request)
    try:
        notes = notes_of(loads(await request.read()))
        await asyncio.to_thread(write_notes, run.path, notes)
    except (ValueError, NelError) as error:
        raise web.HTTPBadRequest(text=str(error)) from error
    return json_response({"tags": list(notes.tags), "note": notes.note})


def _runs_page(request: web.Request) -> str:
    library = request.app[LIBRARY]
    words, tag, sort = (request.query.get(name, "").strip() for name in ("q", "tag", "sort"))
    found = library.runs()
    rows = rows_of((library.summaries.of(run), read_notes(run.path)) for run in found.values())
    kept = ordered(chosen(rows, words, tag), sort or DEFAULT)
    return render(
        "runs",
        base=request.app[ACCESS].base_path,
        rows=kept[:ROWS_MAX],
        n_rows=len(rows),
        n_found=len(kept),
        n_runs=len(found),
        q=words,
        tag=tag,
        tags=sorted({one for row in rows for one in row.notes.tags}),
        sort=sort or DEFAULT,
        directories=", ".join(directory.name or str(directory) for directory in library.directories),
    )


def _run_page(request: web.Request) -> str:
    run = found_run(request)
    summary = summary_of(request, run)
    return render(
        "run",
        base=request.app[ACCESS].base_path,
        run=summary,
        notes=read_notes(run.path),
        can_note=not request.app[ACCESS].is_read_only,
        benchmarks=[benchmark_page(summary, one) for one in summary.benchmarks],
    )


def found_run(request: web.Request) -> FoundRun:
    """Return the run that the address names."""
    run = request.app[LIBRARY].runs().get(request.match_info["run"])
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
    found = summary.benchmark(request.match_info["benchmark"])
    if found is None:
        raise web.HTTPNotFound(text="this run has no such benchmark")
    return found


async def page(request: web.Request, make: Callable[[web.Request], str]) -> web.Response:
    """Return the page that a function makes in a thread."""
    text = await asyncio.to_thread(make, request)
    return web.Response(text=text, content_type="text/html", charset="utf-8")


def json_response(value: Mapping[str, Any]) -> web.Response:
    """Return strict JSON."""
    return web.Response(body=dumps_bytes(value), content_type="application/json", charset="utf-8")
