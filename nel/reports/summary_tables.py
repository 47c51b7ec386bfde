"""Tables of one or several runs as Markdown, CSV, JSON, LaTeX and JUnit XML.

A table of several runs is of checked ones: files that do not agree are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from nel.core.strict_json import pretty
from nel.errors import UsageError
from nel.reports import numbers
from nel.reports.agreement import check_lines
from nel.reports.run_files import BenchmarkFiles
from nel.reports.selection import MERGE
from nel.reports.summary import csv_summary, markdown_summary, writer_of
from nel.reports.tables.columns import ReportTable
from nel.reports.tables.headline import HeadlineRow
from nel.reports.tables.latex import latex_table
from nel.reports.tables.results import SUMMARY, SUMMARY_FIELDS, summary_rows
from nel.reports.text import one_line


def table_of_runs(runs: Mapping[Path, Sequence[BenchmarkFiles]], name: str) -> str:
    """Return one table of several runs, in the order given.

    Args:
        runs: Of the runs, their directories and what `read_run` returned of each.
        name: ``markdown``, ``csv``, ``json``, ``latex`` or ``junit``.

    Raises:
        UsageError: No table of several runs has that format.
        OutputError: Lines of results do not add up to the numbers beside them.
    """
    table = _TABLES.get(name)
    if table is None:
        raise UsageError(
            f'"{name}" is not a format for a table of several runs; give one of {", ".join(_TABLES)}'
        )
    rows: list[HeadlineRow] = []
    for run_dir, run_files in runs.items():
        for files in run_files:
            check_lines(files)
        rows += summary_rows(run_dir, run_files)
    return table(rows)


def json_summary(rows: Sequence[HeadlineRow]) -> str:
    """Return ``rows`` as JSON; numbers are as in metrics.json, a missing one is null."""
    table = ReportTable(SUMMARY_FIELDS, rows)
    return pretty({"rows": list(table.objects())}).decode()


def latex_summary(rows: Sequence[HeadlineRow]) -> str:
    """Return a ``tabular`` for the package booktabs."""
    return latex_table(ReportTable(SUMMARY, rows))


def junit_xml(rows: Sequence[HeadlineRow]) -> str:
    """Return JUnit XML: a suite per run, a case per benchmark, an error for an incomplete score.

    Whether a score is good enough is not decided here; `nel gate` has its own JUnit file for that.
    """
    root = Element("testsuites", name="nel report")
    for run in dict.fromkeys(row.run for row in rows):
        _add_suite(root, one_line(run or "run"), [row for row in rows if row.run == run])
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_suite(root: Element, run: str, rows: Sequence[HeadlineRow]) -> None:
    errors = [row for row in rows if _fault(row)]
    suite = SubElement(
        root, "testsuite", name=run, tests=str(len(rows)), failures="0", errors=str(len(errors))
    )
    for row in rows:
        case = SubElement(
            suite,
            "testcase",
            classname=run,
            name=f"{one_line(row.benchmark)} {one_line(row.metric)}",
        )
        fault = _fault(row)
        if fault:
            SubElement(case, "error", message=fault)
        remarks = [f"{row.score.text} {row.score.span}", *map(one_line, row.lines)]
        SubElement(case, "system-out").text = "\n".join(remarks)


def _fault(row: HeadlineRow) -> str:
    """Return why the score of a row is incomplete; empty where it is not."""
    if row.shard:
        return f"{row.shard}: a part of a run; put its shards together with {MERGE}"
    if not row.complete:
        return "PARTIAL: not every sample was asked; go on with nel eval resume"
    if row.score.value is None:
        return "no score: nothing was scored"
    n_unscored, n_total = row.accounting["n_unscored"], row.accounting["n_total"]
    if not n_unscored:
        return ""
    bounds = ""
    if row.bounds.lower is not None:
        bounds = f": {row.bounds.span} had all been wrong, or all right"
    return f"{numbers.count(n_unscored)} of {numbers.count(n_total)} samples unscored{bounds}"


write_json = writer_of("summary.json", "one object a benchmark under ``rows``", json_summary)
write_latex = writer_of("summary.tex", "a table for the package booktabs", latex_summary)
write_junit = writer_of("summary.junit.xml", "a test case for each benchmark", junit_xml)
_TABLES: Final[Mapping[str, Callable[[Sequence[HeadlineRow]], str]]] = {
    "markdown": markdown_summary,
    "csv": csv_summary,
    "json": json_summary,
    "latex": latex_summary,
    "junit": junit_xml,
}
