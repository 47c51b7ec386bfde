"""Writes a decision: decision.json, decision.md, decision.junit.xml and, in CI, a step summary.

Made from the JSON of `nel.comparison.decision`. Names come from datasets and plugins: each format
neutralises them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement, tostring

from nel.core.atomic_files import write_file
from nel.core.strict_json import pretty
from nel.errors import OutputError
from nel.reports import numbers
from nel.reports.comparison import Compared, despite_note
from nel.reports.tables.columns import Column, Figure, ReportTable, ValueKind
from nel.reports.tables.markdown import markdown_lines, markdown_text
from nel.reports.text import one_line

JSON_NAME: Final = "decision.json"
MARKDOWN_NAME: Final = "decision.md"
JUNIT_NAME: Final = "decision.junit.xml"
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable that names the file for the summary of a CI step."""
_TEXT_MAX: Final = 400


def write_decision(document: Mapping[str, Any], directory: Path) -> list[Path]:
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


def gated_table(document: Mapping[str, Any]) -> ReportTable:
    """Return the table of a decision: a row for each benchmark."""
    return ReportTable(GATED, document["benchmarks"])


def reason_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what speaks for the decision, and against each benchmark that did not pass."""
    yield from document["reasons"]
    for benchmark in document["benchmarks"]:
        reasons = [
            *benchmark["reasons"],
            *(f"why {benchmark['tier']}: {text}" for text in [benchmark["why_this_tier"]] if text),
        ]
        for text in reasons:
            yield f"{benchmark['benchmark']}: {text}"
        bounds = _spans(benchmark)
        if bounds:
            yield f"{benchmark['benchmark']}: {bounds}"
    if note := despite_note(document["despite"]):
        yield note


def markdown(document: Mapping[str, Any]) -> str:
    """Return the decision as GitHub Markdown."""
    candidate = markdown_text(str(document["candidate"]["label"]))
    against = (
        ""
        if document["baseline"] is None
        else f" against {markdown_text(str(document['baseline']['label']))}"
    )
    lines = [f"# {document['decision']}: {candidate}{against}", ""]
    lines += [
        f"- {markdown_text(text, characters_max=_TEXT_MAX)}" for text in reason_lines(document)
    ]
    lines += ["", *markdown_lines(gated_table(document))]
    level = f"{document['level'] * 100:g} %"
    lines += [
        "",
        (
            f"Decided on the ends of {level} intervals; a breach holds after Holm's adjustment over"
            " all tests."
        ),
        "",
    ]
    return "\n".join(lines)


def junit(document: Mapping[str, Any]) -> bytes:
    """Return the decision as JUnit XML: a breach is a failure, an undecided check an error."""
    benchmarks = document["benchmarks"]
    gated = [benchmark for benchmark in benchmarks if benchmark["tier"] != "advisory"]
    counts = {
        "tests": len(benchmarks),
        "failures": sum(benchmark["status"] == "breach" for benchmark in gated),
        "errors": sum(benchmark["status"] in ("inconclusive", "missing") for benchmark in gated),
        "skipped": len(benchmarks) - len(gated),
    }
    suite = Element(
        "testsuite", {"name": "nel gate", **{name: str(n) for name, n in counts.items()}}
    )
    for benchmark in benchmarks:
        name = {
            "classname": f"nel.gate.{one_line(benchmark['tier'])}",
            "name": one_line(f"{benchmark['benchmark']} {benchmark['metric']}"),
        }
        case = SubElement(suite, "testcase", name)
        text = one_line("; ".join([*benchmark["reasons"], _spans(benchmark)]).strip("; "))
        if benchmark["tier"] == "advisory":
            SubElement(case, "skipped", {"message": f"advisory: {benchmark['status']}"})
        elif benchmark["status"] != "pass":
            kind = "failure" if benchmark["status"] == "breach" else "error"
            SubElement(
                case,
                kind,
                {"message": f"{benchmark['status']}: {text}", "type": benchmark["status"]},
            )
    if not benchmarks:
        case = SubElement(suite, "testcase", {"classname": "nel.gate", "name": "nothing"})
        SubElement(case, "error", {"message": "nothing was gated", "type": "missing"})
    return (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        + tostring(suite, encoding="unicode").encode()
        + b"\n"
    )


def _side(benchmark: Mapping[str, Any], name: str) -> Figure | None:
    """Return the score of a side; without a baseline the one that is held against a floor."""
    measure = benchmark["measure"]
    if measure is not None:
        return Compared("", measure).side(name)
    if name == "baseline" or benchmark["value"] is None:
        return None
    check = [{}, *benchmark["checks"]][-1]
    ends = check.get("lower"), check.get("upper")
    return Figure(benchmark["value"], *ends, benchmark["unit"])


def _difference(benchmark: Mapping[str, Any]) -> Figure | None:
    measure = benchmark["measure"]
    return None if measure is None else Compared("", measure).difference


def _limits(benchmark: Mapping[str, Any]) -> str | None:
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


def _limit(check: Mapping[str, Any], unit: str) -> str:
    """Return what a test demands: a drop of rates in points, a relative drop in per cent.

    A floor is in the unit of the metric.
    """
    names = {"drop": "drop of", "relative_drop": "relative drop of", "floor": "at least"}
    if check["kind"] == "relative_drop":
        unit = "rate"
    elif check["kind"] == "drop" and unit == "rate":
        unit = "points"
    return f"{names[check['kind']]} {numbers.in_unit(check['limit'], unit)}"


def _spans(benchmark: Mapping[str, Any]) -> str:
    """Return what each test was decided on, in the direction in which higher is better."""
    spans = []
    unit = benchmark["unit"]
    for check in benchmark["checks"]:
        if check["lower"] is None:
            continue
        ends = f"{numbers.plain(check['lower'])} to {numbers.plain(check['upper'])}"
        if unit == "rate" and check["kind"] == "drop":
            places = numbers.decimals(check["lower"], check["upper"])
            lower, upper = (numbers.points(check[end], places=places) for end in ("lower", "upper"))
            ends = f"{lower} to {upper} points"
        elif check["kind"] == "floor":
            ends = numbers.interval(check["lower"], check["upper"], unit)
        which = {"pass": "the lower end", "breach": "the upper end"}
        end = f"{which.get(check['status'], 'neither end')} of "
        spans.append(
            f"{_limit(check, unit)}: decided on {end}{ends} at level"
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
