"""A run's headline numbers as rows, a Markdown table and CSV. Reads metrics.json alone.

Benchmark and metric names come from plugins and datasets, so each format neutralises them: Markdown
gets no raw HTML, link, mention or cell break, and CSV no text cell that a spreadsheet would run as
a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from nel.core.atomic_files import write_file
from nel.reports import numbers
from nel.reports.early_stop import stop_line
from nel.reports.extraction import band_text
from nel.reports.judge_section import judged_line
from nel.reports.repeatability import repeat_check_text
from nel.reports.run_files import BenchmarkFiles, read_run
from nel.reports.run_warnings import texts_of
from nel.reports.selection import sample_line, shard_title
from nel.reports.spread import spread_text
from nel.reports.text import cut, visible

_CELL_CHARACTERS_MAX: Final = 120
_REMARK_CHARACTERS_MAX: Final = 400
_MARKDOWN_SPECIAL = re.compile(
    r"""
    ( [\\`*\[\]|~$] | (?<=\])\(                        # code, emphasis, links, cells, mathematics
    | (?<![^\W_])_ | _(?![^\W_])             # emphasis; not between letters or digits
    | ^\# | \#(?=\d)                         # a heading; the number of an issue
    | ^[+-](?=[\s-]|$) | (?<=^\d)[.)](?=\s) | (?<=^\d\d)[.)](?=\s)   # a list, a rule
    | :(?=\S) | (?<=www)\.                   # an address, an emoji
    )""",
    re.VERBOSE,
)
_FORMULA_START: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_COLUMNS: Final = (
    "run", "model",
    "benchmark", "metric", "value", "ci_lower", "ci_upper", "bound_lower", "bound_upper",
    "n_total", "n_scored", "n_model_failure", "n_unscored", "n_not_asked", "complete", "sample", "failures", "judged",
    "warnings",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    """The headline of one benchmark."""

    benchmark: str
    metric: str
    value: float | None
    """None when nothing was scored."""
    ci_lower: float | None
    ci_upper: float | None
    bound_lower: float | None
    """The value had every unscored sample been wrong; None when the metric is not known to lie in
    [0, 1].
    """
    bound_upper: float | None
    n_total: int
    n_scored: int
    n_model_failure: int
    n_unscored: int
    n_not_asked: int
    """Left out by a stop rule, or asked by other shards."""
    failures: Mapping[str, int]
    """Model failures by kind and unscored as ``cause:kind``, sorted by name."""
    complete: bool
    judged: str = ""
    """Who judged, in one line; empty where no judge did."""
    run: str = ""
    """The run's id."""
    model: str = ""
    stopped: str = ""
    """What was not to be asked, in one line; empty where all was."""
    shard: str = ""
    """``shard I of N``; empty for a whole run."""
    extraction: str = ""
    """How far the score depends on the way of reading answers; empty without an audit."""
    spread: str = ""
    """Where the doubt of the value comes from; empty where its questions do not say so."""
    repeat_check: str = ""
    """How often the endpoint differs from itself; empty without a check."""
    sample: str = ""
    """How the questions were drawn, in one line; empty where they are not a sample."""
    warnings: tuple[str, ...] = ()
    """What speaks against the numbers and the judges."""


def summary_rows(run_dir: Path) -> list[SummaryRow]:
    """Return one row a benchmark, sorted by directory name.

    Raises:
        OutputError: The directory has no artifacts, or a file is not strict JSON.
    """
    return [_row(files) for files in read_run(run_dir)]


def markdown_table(rows: Iterable[SummaryRow]) -> str:
    """Return a GitHub Markdown table, below it remarks on judging and reading; text from outside is
    escaped.
    """
    head = (
        "| Run | Model | Benchmark | Metric | Value | 95 % interval | Bounds | n | Model failure |"
        " Unscored | Not asked | State |"
    )
    rule = "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
    listed = list(rows)
    lines = [head, rule, *(markdown_line(_markdown_cells(row)) for row in listed)]
    remarks = [
        f"- {markdown_text(f'{row.run}, {row.benchmark}')}: "
        f"{markdown_text(remark, characters_max=_REMARK_CHARACTERS_MAX)}"
        for row in listed
        for remark in remarks_of(row)
    ]
    return "\n".join([*lines, *([""] if remarks else []), *remarks]) + "\n"


def csv_text(rows: Iterable[SummaryRow]) -> str:
    """Return RFC 4180 CSV with a header.

    A text cell that a spreadsheet could take for a formula gets a leading apostrophe; strip one to
    read it back. Numbers are written as they are, and a missing one is an empty cell.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow([_csv_cell(getattr(row, column)) for column in _COLUMNS])
    return out.getvalue()


def _row(files: BenchmarkFiles) -> SummaryRow:
    headline: Mapping[str, Any] = files.metrics.get("headline") or {}
    accounting: Mapping[str, Any] = files.metrics.get("accounting") or {}
    bounds: Mapping[str, Any] = headline.get("bounds") or {}
    judging: Mapping[str, Any] = files.metrics.get("judging") or {}
    counted = {name: int(accounting.get(name) or 0) for name in _count_names()}
    return SummaryRow(
        benchmark=files.title,
        metric=str(headline.get("metric", "")),
        value=headline.get("value"),
        ci_lower=headline.get("ci_lower"),
        ci_upper=headline.get("ci_upper"),
        bound_lower=bounds.get("lower"),
        bound_upper=bounds.get("upper"),
        failures=_failures(accounting),
        complete=bool(files.metrics.get("complete")),
        run=str(files.metrics.get("run_id", "")),
        model=str((files.bundle.get("config") or {}).get("model") or ""),
        judged=judged_line(judging) if judging else "",
        stopped=stop_line(files.metrics),
        shard=shard_title(files.metrics),
        extraction=band_text(files.metrics),
        spread=spread_text(files.metrics),
        repeat_check=repeat_check_text(files.metrics),
        sample=sample_line(files.metrics),
        warnings=tuple(texts_of(files.metrics)),
        **counted,
    )


def remarks_of(row: SummaryRow) -> list[str]:
    """Return what is to be said of a row beside its numbers, one line each."""
    lines = (
        row.sample,
        row.stopped,
        row.spread,
        row.judged,
        row.extraction,
        row.repeat_check,
    )
    return [*(line for line in lines if line), *row.warnings]


def _count_names() -> list[str]:
    return [field.name for field in fields(SummaryRow) if field.name.startswith("n_")]


def _failures(accounting: Mapping[str, Any]) -> dict[str, int]:
    causes = {str(kind): int(n) for kind, n in (accounting.get("model_failures") or {}).items()}
    for cause, kinds in (accounting.get("unscored") or {}).items():
        causes |= {f"{cause}:{kind}": int(n) for kind, n in (kinds.get("kinds") or {}).items()}
    return {name: causes[name] for name in sorted(causes) if causes[name]}


def run_and_model(row: SummaryRow) -> list[str]:
    """Return the cells that stand first in a table."""
    return [row.run or numbers.MISSING, row.model or numbers.MISSING]


def _markdown_cells(row: SummaryRow) -> list[str]:
    share = row.bound_lower is not None
    value = (
        "**no score**"
        if row.value is None
        else numbers.figure(row.value, share=share, lower=row.ci_lower, upper=row.ci_upper)
    )
    return [
        *map(markdown_text, (*run_and_model(row), row.benchmark, row.metric)),
        value,
        numbers.interval(row.ci_lower, row.ci_upper, share=share),
        numbers.interval(row.bound_lower, row.bound_upper, share=True),
        numbers.count(row.n_total),
        numbers.count(row.n_model_failure),
        numbers.count(row.n_unscored),
        numbers.count(row.n_not_asked),
        _state(row),
    ]


def _state(row: SummaryRow) -> str:
    state = state_of(row)
    return f"**{state}**" if state == "PARTIAL" else state


def state_of(row: SummaryRow) -> str:
    """Return ``complete``, ``stopped early``, ``shard I of N`` or ``PARTIAL``."""
    if row.shard:
        return row.shard
    if not row.complete:
        return "PARTIAL"
    return "stopped early" if row.n_not_asked else "complete"


def markdown_line(cells: Iterable[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def markdown_text(text: str, *, characters_max: int = _CELL_CHARACTERS_MAX) -> str:
    """Return text that Markdown prints as it is; ``@`` and ``<`` become entities, so nothing is
    mentioned or run.
    """
    escaped = _MARKDOWN_SPECIAL.sub(r"\\\1", cut(text, characters_max).replace("&", "\0"))
    for character, entity in (("<", "&lt;"), (">", "&gt;"), ("@", "&#64;"), ("\0", "&amp;")):
        escaped = escaped.replace(character, entity)
    return escaped


def writer_of(
    name: str, content: str, table: Callable[[Sequence[SummaryRow]], str]
) -> Callable[[Path], Path]:
    """Return the function that writes a table of a run's benchmarks into its directory.

    It returns the path. It raises OutputError where the directory has no artifacts or a file is not
    strict JSON, and StoppedEarly where the disk is full.

    Args:
        name: Of the file.
        content: What it holds, for the list of plugins.
        table: Makes the text of the rows.
    """

    def write(run_dir: Path) -> Path:
        path = run_dir / name
        write_file(path, [table(summary_rows(run_dir)).encode()])
        return path

    write.__doc__ = f"Write the run's {name}, {content}, and return its path."
    return write


write_markdown = writer_of("summary.md", "a table for a pull request or a wiki", markdown_table)
write_csv = writer_of("summary.csv", "one line a benchmark", csv_text)


def _csv_cell(value: object) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, tuple):
        value = "; ".join(value)
    if isinstance(value, Mapping):
        value = "; ".join(f"{name}={n}" for name, n in value.items())
    raw = str(value)
    text = visible(raw)
    is_formula = raw.startswith(_FORMULA_START) or text.lstrip().startswith(_FORMULA_START)
    return f"'{text}" if is_formula else text
