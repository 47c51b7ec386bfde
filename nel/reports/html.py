"""Writes report.html: one self-contained page about a run, made from its artifact files alone.

Responsible for the template environment, the content security policy and the data island;
`nel.reports.page` and the templates hold the content. Model output is hostile: every printed value
passes `visible` and the autoescaping, data reaches the script only in base64, and the policy allows
no code but the page's own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nel.core.atomic_files import write_file
from nel.errors import OutputError
from nel.reports import extraction
from nel.reports.environment import templates_of, trust
from nel.reports.page import failure_rows, overview_of, view_of
from nel.reports.run_files import read_aggregates, read_run_yaml, stored_files
from nel.reports.samples import select
from nel.reports.tables.columns import ReportTable
from nel.reports.text import preview

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT_NAME: Final = "report.html"
_RUN_YAML_CHARACTERS_MAX: Final = 64_000


def write_report(run_dir: Path) -> Path:
    """Write the run's report.html, replacing an older one atomically, and return its path.

    Raises:
        OutputError: The directory has no artifacts, or one of them is damaged.
        StoppedEarly: The disk is full.
    """
    path = run_dir / REPORT_NAME
    write_file(path, (chunk.encode() for chunk in render_report(run_dir)))
    return path


def render_report(run_dir: Path) -> Iterator[str]:
    """Return the page in chunks, the same for the same files; its samples are in memory, compressed.

    Raises:
        OutputError: The directory has no artifacts, or one of them is damaged.
    """
    files = stored_files(run_dir)
    try:
        sections = zip(files, select(files), strict=True)
        views = [
            view_of(section, position, selection)
            for position, (section, selection) in enumerate(sections, start=1)
        ]
    except KeyError as error:
        raise _incomplete(error) from error
    style, script = page_style(), asset("report.js")
    if any(view["selection"].charts for view in views):
        style += asset("uplot/uPlot.min.css")
        library = f"/*\n{asset('uplot/LICENSE')}\n*/\n{asset('uplot/uPlot.iife.min.js')}"
        script = library + asset("charts.js") + script
    run_yaml = read_run_yaml(run_dir)
    if run_yaml is not None:
        run_yaml = preview(run_yaml, characters_max=_RUN_YAML_CHARACTERS_MAX)
    template = environment().get_template("report.html.j2")
    chunks = template.generate(
        views=views,
        header=_header(views),
        overview=overview_of(views, read_aggregates(run_dir)),
        run_yaml=run_yaml,
        policy=policy(style, script),
        style=trust(style),
        script=trust(script),
    )
    return _translate_errors(chunks)


def _translate_errors(chunks: Iterator[str]) -> Iterator[str]:
    """Yield the chunks; a value that the artifacts lack is their fault, not the template's."""
    from jinja2 import UndefinedError  # noqa: PLC0415 - slow to import

    try:
        yield from chunks
    except UndefinedError as error:
        raise _incomplete(error) from error


def _incomplete(error: Exception) -> OutputError:
    return OutputError(
        f"an artifact is incomplete ({error}); make the artifacts again with nel report"
    )


def _island(view: Mapping[str, Any]) -> Iterator[object]:
    selection = view["selection"]
    return map(trust, selection.samples.elements(selection.totals))


def _header(views: list[dict[str, Any]]) -> dict[str, object]:
    """Return what the page's top says of all benchmarks; values that differ are all named."""

    def distinct(key: str) -> list[str]:
        values = (view["config"].get(key) for view in views)
        return list(dict.fromkeys(str(value) for value in values if value is not None))

    has_bundle = any(view["config"] for view in views)
    return {
        "no_model": "Recorded responses" if has_bundle else "Model not recorded",
        "no_url": "none; recorded responses were scored" if has_bundle else "not recorded",
        "run_id": str(views[0]["files"].metrics.get("run_id", "")),
        "models": distinct("model"),
        "urls": distinct("base_url"),
        "state": _state([view["row"].state for view in views]),
        "sdk": str(views[0]["files"].bundle.get("sdk", "nel")),
    }


def _state(states: Sequence[str]) -> str:
    """Return the state of a run: of its benchmarks the one that is furthest from complete."""
    order = ("complete", "stopped early")
    return max(states, key=lambda state: order.index(state) if state in order else len(order))


@cache
def environment() -> Environment:
    """Return the environment of the package's templates: autoescaping, and all text visible.

    Compiling the templates takes a quarter of a second, so a process does it once.
    """
    templates = templates_of("nel.reports")
    templates.filters |= {
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "preview": preview,
    }
    templates.globals |= {
        "failure_rows": failure_rows,
        "reading_rows": extraction.reading_rows,
        "island": _island,
    }
    return templates


def table_html(table: ReportTable, style: str) -> str:
    """Return a table for a place without a style sheet: each cell has the style."""
    macros: Any = environment().get_template("table.html.j2").module
    return str(macros.html(table, style=style))


def asset(name: str) -> str:
    """Return one of the package's own files beside the templates."""
    return package_files("nel.reports").joinpath("templates", name).read_text(encoding="utf-8")


def page_style() -> str:
    """Return the style of a page: what it shares with the web app, and its own."""
    return asset("shared.css") + asset("report.css")


def policy(style: str, script: str | None = None) -> str:
    """Return the content security policy of a page that has this style and this script, or none."""
    code = "" if script is None else f"script-src '{_digest(script)}'; "
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; {code}base-uri 'none'; form-action"
        " 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
