"""Several runs stand in one table, in every format, and no name can break out of it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import typer

from nel.cli.report import report
from nel.errors import EXIT_STOPPED_EARLY, OutputError, UsageError
from nel.reports.summary_tables import junit_xml, latex_summary, table_of_runs
from nel.reports.tables.columns import Figure
from nel.reports.tables.latex import latex_text
from nel.reports.whole_run import read_run
from tests.reports import run_fixture
from tests.reports.test_summary import ROW


@pytest.fixture
def two_runs(tmp_path: Path) -> list[Path]:
    """Return two small runs, the second one partial."""
    return [run_fixture.build_run(tmp_path / name, n=20, unscored=1, complete=name == "a") for name in "ab"]


def test_two_runs_are_one_table(two_runs: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints a row for each run with its id and model, and writes into neither."""
    before = sorted(two_runs[0].rglob("*"))
    with pytest.raises(typer.Exit) as ended:
        report(two_runs)
    assert ended.value.exit_code == EXIT_STOPPED_EARLY
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| Run | Model | Benchmark | Metric |")
    assert [line.count("|") for line in lines[:4]] == [13] * 4
    assert lines[2].startswith("| 20260401-mmlu-pro | aurora-7b-instruct | mmlu-pro |")
    assert lines[3].endswith("| **PARTIAL** |")
    assert sorted(two_runs[0].rglob("*")) == before


def test_csv_and_json_name_the_run(two_runs: list[Path]) -> None:
    """Both hold the numbers of metrics.json unrounded."""
    value = json.loads((two_runs[0] / "mmlu-pro" / "metrics.json").read_text())["headline"]["value"]
    runs = {run_dir: read_run(run_dir) for run_dir in two_runs}
    cells = list(csv.DictReader(io.StringIO(table_of_runs(runs, "csv"), newline="")))
    rows = json.loads(table_of_runs(runs, "json"))["rows"]
    assert [cell["run"] for cell in cells] == [row["run"] for row in rows] == ["20260401-mmlu-pro"] * 2
    assert float(cells[0]["value"]) == rows[0]["value"] == value
    assert [row["state"] for row in rows] == ["complete", "PARTIAL"]


def test_junit_has_an_error_where_there_is_no_whole_score() -> None:
    """A partial row, one without a score and one with unscored samples are errors; a score alone fails nothing."""
    bad = replace(ROW, run="r2", score=Figure(None), benchmark="\x00<b>&\ud800", warnings=("]]>\x1b",))
    some = {**ROW.accounting, "n_total": 60, "n_unscored": 6}
    unscored = replace(ROW, run="r3", accounting=some, bounds=Figure(None, 0.3, 0.4))
    rows = [replace(ROW, run="r1", score=Figure(0.0)), replace(ROW, run="r2", complete=False), bad, unscored]
    root = fromstring(junit_xml(rows))  # noqa: S314 - made here
    assert [(suite.get("name"), suite.get("tests"), suite.get("errors")) for suite in root] == [
        ("r1", "1", "0"),
        ("r2", "2", "2"),
        ("r3", "1", "1"),
    ]
    assert "nel eval resume" in str(root[1][0][0].get("message"))
    said = str(root[2][0][0].get("message"))
    assert said.startswith("6 of 60 samples unscored: ")
    assert "30.00" in said
    assert "40.00" in said


def test_latex_has_a_row_for_each_and_escapes_names() -> None:
    """Numbers keep their comma, units a thin space, and a name cannot start a command."""
    (line,) = latex_summary(
        [replace(ROW, run="r_1", model=r"\input{x}", accounting={**ROW.accounting, "n_total": 12032})]
    ).splitlines()[5:6]
    assert line.startswith(
        r"r\_1 & \textbackslash{}input\{x\} & gsm8k & accuracy & 50.00\,\% & 40.00 -- 60.00\,\% & 50.00 -- 50.00\,\% & 12,032 &"
    )
    assert line.endswith(r"complete \\")
    assert latex_text("a\n%b") == r"a \%b"


def test_what_cannot_be_one_table_is_refused(two_runs: list[Path], tmp_path: Path) -> None:
    """A page has one run, stdout one format, and a directory without a run is named."""
    with pytest.raises(UsageError, match=r"one of markdown, csv, json, latex, junit"):
        report(two_runs, ["html"])
    with pytest.raises(UsageError, match="give --format once"):
        report(two_runs, ["csv", "json"])
    with pytest.raises(OutputError, match="no artifacts in"):
        report([two_runs[0], tmp_path / "none"])
