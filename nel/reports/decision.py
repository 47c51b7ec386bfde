"""Writes a decision: decision.json, decision.md, decision.junit.xml and, in CI, the summary of the
step.

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
from nel.reports.comparison import interval, is_share, points, score
from nel.reports.summary import markdown_text
from nel.reports.text import one_line

JSON_NAME: Final = "decision.json"
MARKDOWN_NAME: Final = "decision.md"
JUNIT_NAME: Final = "decision.junit.xml"
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable that names the file for the summary of a CI step."""
HEADINGS: Final = (
    "status",
    "benchmark",
    "tier",
    "metric",
    "baseline",
    "candidate",
    "difference",
    "interval",
    "limit",
)
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


def rows(document: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each benchmark; the columns are `HEADINGS`."""
    return [_row(one) for one in document["benchmarks"]]


def reason_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what speaks for the decision, and against each benchmark that did not pass."""
    yield from document["reasons"]
    for one in document["benchmarks"]:
        said = [
            *one["reasons"],
            *(f"why {one['tier']}: {text}" for text in [one["why_this_tier"]] if text),
        ]
        for text in said:
            yield f"{one['benchmark']}: {text}"
        bounds = _spans(one)
        if one["status"] == "inconclusive" and bounds:
            yield f"{one['benchmark']}: {bounds}"
    if document["despite"]:
        yield f"allowed to differ: {', '.join(document['despite'])}"


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
    lines += ["", f"| {' | '.join(HEADINGS)} |", f"|{'---|' * len(HEADINGS)}"]
    lines += [f"| {' | '.join(markdown_text(cell) for cell in row)} |" for row in rows(document)]
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
    """Return the decision as JUnit XML: a breach is a failure, what could not be decided an
    error.
    """
    benchmarks = document["benchmarks"]
    gated = [one for one in benchmarks if one["tier"] != "advisory"]
    counts = {
        "tests": len(benchmarks),
        "failures": sum(one["status"] == "breach" for one in gated),
        "errors": sum(one["status"] in ("inconclusive", "missing") for one in gated),
        "skipped": len(benchmarks) - len(gated),
    }
    suite = Element(
        "testsuite", {"name": "nel gate", **{name: str(n) for name, n in counts.items()}}
    )
    for one in benchmarks:
        name = {
            "classname": f"nel.gate.{one_line(one['tier'])}",
            "name": one_line(f"{one['benchmark']} {one['metric']}"),
        }
        case = SubElement(suite, "testcase", name)
        text = one_line("; ".join([*one["reasons"], _spans(one)]).strip("; "))
        if one["tier"] == "advisory":
            SubElement(case, "skipped", {"message": f"advisory: {one['status']}"})
        elif one["status"] != "pass":
            kind = "failure" if one["status"] == "breach" else "error"
            SubElement(case, kind, {"message": f"{one['status']}: {text}", "type": one["status"]})
    if not benchmarks:
        case = SubElement(suite, "testcase", {"classname": "nel.gate", "name": "nothing"})
        SubElement(case, "error", {"message": "nothing was gated", "type": "missing"})
    return (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        + tostring(suite, encoding="unicode").encode()
        + b"\n"
    )


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    measure = one["measure"]
    limit = (
        ", ".join(_limit(check, are_rates=_are_rates(one)) for check in one["checks"])
        or numbers.MISSING
    )
    head = (one["status"], one["benchmark"], one["tier"], one["metric"])
    if measure is None:
        is_unit = _are_rates(one)
        value = numbers.figure(one["value"], share=is_unit)
        spans = [
            numbers.interval(check["lower"], check["upper"], share=is_unit)
            for check in one["checks"]
        ]
        return (
            *head,
            numbers.MISSING,
            value,
            numbers.MISSING,
            ", ".join(spans) or numbers.MISSING,
            limit,
        )
    found = measure["difference"]
    return (
        *head,
        score(measure["baseline"], measure),
        score(measure["candidate"], measure),
        numbers.MISSING if found is None else points(found["value"], measure),
        interval(measure),
        limit,
    )


def _limit(check: Mapping[str, Any], *, are_rates: bool) -> str:
    """Return what a test demands: a drop of rates in points, a floor of a rate and a relative drop
    in per cent.
    """
    names = {"drop": "drop of", "relative_drop": "relative drop of", "floor": "at least"}
    units = {"drop": "points", "relative_drop": "rate", "floor": "rate"}
    is_plain = not are_rates and check["kind"] != "relative_drop"
    return (
        f"{names[check['kind']]}"
        f" {numbers.in_unit(check['limit'], 'number' if is_plain else units[check['kind']])}"
    )


def _are_rates(one: Mapping[str, Any]) -> bool:
    """Return whether what was gated are rates."""
    measure, value = one["measure"], one["value"]
    return is_share(measure) if measure is not None else value is not None and 0 <= value <= 1


def _spans(one: Mapping[str, Any]) -> str:
    """Return what each test was decided on, in the direction in which higher is better."""
    said = []
    are_rates = _are_rates(one)
    for check in one["checks"]:
        if check["lower"] is None:
            continue
        ends = f"{numbers.plain(check['lower'])} to {numbers.plain(check['upper'])}"
        if are_rates and check["kind"] == "drop":
            ends = f"{numbers.points(check['lower'])} to {numbers.points(check['upper'])} points"
        elif are_rates and check["kind"] == "floor":
            ends = numbers.interval(check["lower"], check["upper"], share=True)
        said.append(
            f"{_limit(check, are_rates=are_rates)}: decided on {ends} at level"
            f" {numbers.plain(check['level'])}"
        )
    return "; ".join(said)


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
