"""Tables of one run or of several as Markdown, CSV, JSON, LaTeX and JUnit XML. Reads metrics.json
and the bundle alone.

Names come from plugins and datasets, so each format neutralises them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from nel.core.strict_json import pretty
from nel.errors import UsageError
from nel.reports import numbers
from nel.reports.selection import MERGE
from nel.reports.summary import (
    SummaryRow,
    csv_text,
    markdown_table,
    remarks_of,
    run_and_model,
    state_of,
    summary_rows,
    writer_of,
)
from nel.reports.text import cut, one_line

_CELL_CHARACTERS_MAX: Final = 120
_LATEX_SPECIAL: Final = re.compile(r"[\\\\{}$&#^_%~<>|\"]")
_LATEX_NAMED: Final = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
_LATEX_OF_NUMBERS: Final = str.maketrans({numbers.THIN: r"\,", "–": "--", "−": "$-$", "%": r"\%"})


def table_of_runs(run_dirs: Iterable[Path], name: str) -> str:
    """Return one table of several runs, in the order given.

    Args:
        run_dirs: Of the runs, with their artifacts; nothing in them is written.
        name: ``markdown``, ``csv``, ``json``, ``latex`` or ``junit``.

    Raises:
        UsageError: No table of several runs has that format.
        OutputError: A directory has no artifacts, or a file is not strict JSON.
    """
    table = _TABLES.get(name)
    if table is None:
        raise UsageError(
            f'"{name}" is not a format for a table of several runs; give one of {", ".join(_TABLES)}'
        )
    return table([row for run_dir in dict.fromkeys(run_dirs) for row in summary_rows(run_dir)])


def json_text(rows: Sequence[SummaryRow]) -> str:
    """Return ``rows`` as JSON; numbers are as in metrics.json, a missing one is null."""
    return pretty({"rows": [{**asdict(row), "state": state_of(row)} for row in rows]}).decode()


def latex_table(rows: Sequence[SummaryRow]) -> str:
    """Return a ``tabular`` for the package booktabs; text from outside is escaped."""
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{llllrrrrrl}",
        r"\toprule",
        (
            r"Run & Model & Benchmark & Metric & Value & 95\,\% interval & $n$ & Model failure &"
            r" Unscored & State \\"
        ),
        r"\midrule",
    ]
    lines += [" & ".join(_latex_cells(row)) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def latex_text(text: str) -> str:
    """Return text that LaTeX prints as it is, on one line."""
    line = cut(text, _CELL_CHARACTERS_MAX)
    return _LATEX_SPECIAL.sub(lambda match: _LATEX_NAMED.get(match[0], "\\" + match[0]), line)


def junit_xml(rows: Sequence[SummaryRow]) -> str:
    """Return JUnit XML: a suite for each run and a case for each benchmark, an error where there is
    no whole score.

    How good a score is decides nothing here; `nel gate` has its own JUnit file for that.
    """
    root = Element("testsuites", name="nel report")
    for run in dict.fromkeys(row.run for row in rows):
        _add_suite(root, one_line(run) or "run", [row for row in rows if row.run == run])
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_suite(root: Element, run: str, rows: Sequence[SummaryRow]) -> None:
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
        remarks = [
            " ".join([_value(row), _interval(row)]),
            *(one_line(text) for text in remarks_of(row)),
        ]
        SubElement(case, "system-out").text = "\n".join(remarks)


def _fault(row: SummaryRow) -> str:
    """Return why a row has no score that can be used; empty where it has."""
    if row.shard:
        return f"{row.shard}: a part of a run; put its shards together with {MERGE}"
    if not row.complete:
        return "PARTIAL: not every sample was asked; go on with nel eval resume"
    if row.value is None:
        return "no score: nothing was scored"
    if row.n_unscored:
        return (
            f"{numbers.count(row.n_unscored)} of {numbers.count(row.n_total)} samples"
            f" unscored{_bounds(row)}"
        )
    return ""


def _bounds(row: SummaryRow) -> str:
    if row.bound_lower is None or row.bound_upper is None:
        return ""
    return (
        f": {numbers.interval(row.bound_lower, row.bound_upper, share=True)} had all been wrong, or"
        " all right"
    )


def _latex_cells(row: SummaryRow) -> list[str]:
    figures = (
        _value(row),
        _interval(row),
        *map(numbers.count, (row.n_total, row.n_model_failure, row.n_unscored)),
    )
    return [
        *(latex_text(text) for text in (*run_and_model(row), row.benchmark, row.metric)),
        *(figure.translate(_LATEX_OF_NUMBERS) for figure in figures),
        state_of(row),
    ]


def _value(row: SummaryRow) -> str:
    return (
        "no score"
        if row.value is None
        else numbers.figure(
            row.value, share=row.bound_lower is not None, lower=row.ci_lower, upper=row.ci_upper
        )
    )


def _interval(row: SummaryRow) -> str:
    return numbers.interval(row.ci_lower, row.ci_upper, share=row.bound_lower is not None)


write_json = writer_of("summary.json", "one object a benchmark under ``rows``", json_text)
write_latex = writer_of("summary.tex", "a table for the package booktabs", latex_table)
write_junit = writer_of("summary.junit.xml", "a test case for each benchmark", junit_xml)
_TABLES: Final[Mapping[str, Callable[[Sequence[SummaryRow]], str]]] = {
    "markdown": markdown_table,
    "csv": csv_text,
    "json": json_text,
    "latex": latex_table,
    "junit": junit_xml,
}
