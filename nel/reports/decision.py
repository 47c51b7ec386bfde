"""Writes a decision: decision.json, decision.md, decision.junit.xml and, in CI, a step summary.

The input is the JSON of `nel.comparison.decision`. Names come from datasets and plugins, so each
format escapes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from nel.core.atomic_files import write_file
from nel.core.strict_json import pretty
from nel.errors import OutputError
from nel.reports import numbers
from nel.reports.comparison import Compared, despite_note
from nel.reports.tables.columns import Column, Figure, ReportTable, ValueKind
from nel.reports.tables.markdown import markdown_lines, markdown_text
from nel.reports.text import one_line
from nel.types import JsonObject

JSON_NAME: Final = "decision.json"
MARKDOWN_NAME: Final = "decision.md"
JUNIT_NAME: Final = "decision.junit.xml"
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable that names the file for the summary of a CI step."""
_TEXT_MAX: Final = 400
_DECIDING_ENDS: Final = {"pass": "the lower end", "breach": "the upper end"}


def write_decision(document: JsonObject, directory: Path) -> list[Path]:
    """Write the three files, replacing older ones atomically, and return their paths.

    Raises:
        OutputError: The directory cannot be made, or the summary of the step cannot be written.
        StoppedEarly: The disk is full.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create {directory}: {error.strerror}") from error
    files = {
        JSON_NAME: pretty(document),
        MARKDOWN_NAME: markdown(document).encode(),
        JUNIT_NAME: junit(document),
    }
    for name, content in files.items():
        write_file(directory / name, [content])
    _append_step_summary(markdown(document))
    return [directory / name for name in files]


def gated_table(document: JsonObject) -> ReportTable:
    """Return the table of a decision: a row for each benchmark."""
    return ReportTable(GATED, document["benchmarks"])


def reason_lines(document: JsonObject) -> Iterator[str]:
    """Yield the reasons of the decision, and of each benchmark that did not pass."""
    yield from document["reasons"]
    for benchmark in document["benchmarks"]:
        name = benchmark["benchmark"]
        for reason in benchmark["reasons"]:
            yield f"{name}: {reason}"
        if benchmark["why_this_tier"]:
            yield f"{name}: why {benchmark['tier']}: {benchmark['why_this_tier']}"
        spans = _spans(benchmark)
        if spans:
            yield f"{name}: {spans}"
    note = despite_note(document["despite"])
    if note:
        yield note


def markdown(document: JsonObject) -> str:
    """Return the decision as GitHub Markdown."""
    title = f"# {document['decision']}: {markdown_text(str(document['candidate']['label']))}"
    if document["baseline"] is not None:
        title += f" against {markdown_text(str(document['baseline']['label']))}"
    reasons = [
        f"- {markdown_text(text, characters_max=_TEXT_MAX)}" for text in reason_lines(document)
    ]
    table = markdown_lines(gated_table(document))
    method = (
        f"Decided on the ends of {document['level'] * 100:g} % intervals; a breach holds after"
        " Holm's adjustment over all tests."
    )
    return "\n".join([title, "", *reasons, "", *table, "", method, ""])


def junit(document: JsonObject) -> bytes:
    """Return the decision as JUnit XML: a breach is a failure, an undecided check an error."""
    benchmarks = document["benchmarks"]
    gated = [benchmark for benchmark in benchmarks if benchmark["tier"] != "advisory"]
    counts = {
        "tests": len(benchmarks),
        "failures": sum(benchmark["status"] == "breach" for benchmark in gated),
        "errors": sum(benchmark["status"] in ("inconclusive", "missing") for benchmark in gated),
        "skipped": len(benchmarks) - len(gated),
    }
    suite = Element("testsuite", {"name": "nel gate"})
    for name, n in counts.items():
        suite.set(name, str(n))
    for benchmark in benchmarks:
        status = benchmark["status"]
        names = {
            "classname": f"nel.gate.{one_line(benchmark['tier'])}",
            "name": one_line(f"{benchmark['benchmark']} {benchmark['metric']}"),
        }
        case = SubElement(suite, "testcase", names)
        if benchmark["tier"] == "advisory":
            SubElement(case, "skipped", {"message": f"advisory: {status}"})
        elif status != "pass":
            text = one_line("; ".join([*benchmark["reasons"], _spans(benchmark)]).strip("; "))
            kind = "failure" if status == "breach" else "error"
            SubElement(case, kind, {"message": f"{status}: {text}", "type": status})
    if not benchmarks:
        case = SubElement(suite, "testcase", {"classname": "nel.gate", "name": "nothing"})
        SubElement(case, "error", {"message": "nothing was gated", "type": "missing"})
    return (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        + tostring(suite, encoding="unicode").encode()
        + b"\n"
    )


def _side(benchmark: JsonObject, name: str) -> Figure | None:
    """Return the score of a side; without a baseline, the candidate's score and its interval."""
    measure = benchmark["measure"]
    if measure is not None:
        return Compared("", measure).side(name)
    if name == "baseline" or benchmark["value"] is None:
        return None
    lower = upper = None
    for check in benchmark["checks"]:  # of a floor there is one
        lower, upper = check["lower"], check["upper"]
    return Figure(benchmark["value"], lower, upper, benchmark["unit"])


def _difference(benchmark: JsonObject) -> Figure | None:
    measure = benchmark["measure"]
    return None if measure is None else Compared("", measure).difference


def _limits(benchmark: JsonObject) -> str | None:
    unit = benchmark["unit"]
    return ", ".join(_limit(check, unit) for check in benchmark["checks"]) or None


GATED: Final = (
    *map(Column, ("status", "benchmark", "tier", "metric")),
    Column("baseline", ValueKind.SCORE, lambda row: _side(row, "baseline")),
    Column("candidate", ValueKind.SCORE, lambda row: _side(row, "candidate")),
    Column("difference", ValueKind.SCORE, _difference),
    Column(
        "ci",
        ValueKind.INTERVAL,
        lambda row: _difference(row) or _side(row, "candidate"),
        "interval",
    ),
    Column("limit", of=_limits),
)


def _limit(check: JsonObject, unit: str) -> str:
    """Return the limit of a test: a drop of rates in points, a relative drop in per cent, a floor
    in the unit of the metric.
    """
    names = {"drop": "drop of", "relative_drop": "relative drop of", "floor": "at least"}
    if check["kind"] == "relative_drop":
        unit = "rate"
    elif check["kind"] == "drop" and unit == "rate":
        unit = "points"
    return f"{names[check['kind']]} {numbers.in_unit(check['limit'], unit)}"


def _spans(benchmark: JsonObject) -> str:
    """Return the interval that each test was decided on; higher is better in all of them."""
    spans = []
    unit = benchmark["unit"]
    for check in benchmark["checks"]:
        lower, upper = check["lower"], check["upper"]
        if lower is None:
            continue
        if check["kind"] == "floor":
            span = numbers.interval(lower, upper, unit)
        elif unit == "rate" and check["kind"] == "drop":
            places = numbers.decimals(lower, upper)
            lower = numbers.points(lower, places=places)
            upper = numbers.points(upper, places=places)
            span = f"{lower} to {upper} points"
        else:
            span = f"{numbers.plain(lower)} to {numbers.plain(upper)}"
        end = _DECIDING_ENDS.get(check["status"], "neither end")
        spans.append(
            f"{_limit(check, unit)}: decided on {end} of {span} at level"
            f" {numbers.plain(check['level'])} ({check['method']})"
        )
    return "; ".join(spans)


def _append_step_summary(text: str) -> None:
    path = os.environ.get(STEP_SUMMARY)
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise OutputError(
            f"cannot append to {path}, which {STEP_SUMMARY} names: {error.strerror}"
        ) from error
