"""Summary rows come from metrics.json, and their tables are safe to paste."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from nel.errors import OutputError
from nel.reports.summary import csv_summary, markdown_summary
from nel.reports.tables.columns import Counted, Figure
from nel.reports.tables.headline import HeadlineRow
from nel.reports.tables.results import summary_rows
from nel.reports.writers import write_reports

COUNTS = {"n_total": 100, "n_scored": 98, "n_model_failure": 2, "n_unscored": 0, "n_not_asked": 0}
ROW = HeadlineRow(
    benchmark="gsm8k", metric="accuracy", score=Figure(0.5, 0.4, 0.6), bounds=Figure(None, 0.5, 0.5), n=Counted(100),
    accounting={**COUNTS, "model_failures": {"no_answer": 2}, "unscored": {}},
)  # fmt: skip


def test_rows_repeat_the_headline(run_dir: Path) -> None:
    """Each number is the one in metrics.json, and the failures add up."""
    (row,) = summary_rows(run_dir)
    metrics = json.loads((run_dir / "mmlu-pro" / "metrics.json").read_text())
    assert (row.benchmark, row.metric, row.score.value) == ("mmlu-pro", "accuracy", metrics["headline"]["value"])
    assert row.accounting == metrics["accounting"]
    assert sum(row.failures.values()) == row.accounting["n_model_failure"] + row.accounting["n_unscored"]
    assert row.failures["infra:timeout"] == 13
    assert row.complete


def test_a_run_can_have_its_summary_as_markdown_and_as_csv(run_dir: Path) -> None:
    """Both are installed report writers, as third parties write them, and hold what the functions return."""
    written, problems = write_reports(["markdown", "csv"], run_dir)
    assert problems == []
    assert [path.name for path in written] == ["summary.md", "summary.csv"]
    assert written[0].read_text(encoding="utf-8") == markdown_summary(summary_rows(run_dir))
    assert written[1].read_bytes().decode() == csv_summary(summary_rows(run_dir))


def test_missing_run_is_an_error(tmp_path: Path) -> None:
    """A directory without artifacts has no rows to give."""
    with pytest.raises(OutputError, match="no artifacts in"):
        summary_rows(tmp_path / "nowhere")


def test_markdown_shows_percent_and_state() -> None:
    """A share is a percentage with its interval; an incomplete run says PARTIAL; nothing scored says no score."""
    table = markdown_summary([ROW, replace(ROW, score=Figure(None), complete=False)])
    assert "| – | – | gsm8k | accuracy | 50.00\u202f% | 40.00 – 60.00\u202f% |" in table
    assert "| **no score** | – |" in table
    assert table.count("**PARTIAL**") == 1


@pytest.mark.parametrize(
    "name",
    ["a|b", "a\nb", "<script>alert(1)</script>", "[x](javascript:alert(1))", "@everyone", "`c`", "**b**", "\x1b[31m",
     "\ud800", "https://evil.test", "x" * 5000, "&lt;b&gt;", "\\|"],
)  # fmt: skip
def test_markdown_is_inert(name: str) -> None:
    """A hostile name can neither break the table nor bring HTML, links, mentions or control characters."""
    line = markdown_summary([replace(ROW, benchmark=name)]).splitlines()[2]
    assert line.replace("\\\\", "").replace("\\|", "").count("|") == 13
    assert not set("<>@\x1b") & set(line)
    assert "](" not in line
    assert "http://" not in line
    assert "https:" not in line
    assert len(line) < 720
    line.encode()


@pytest.mark.parametrize("name", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "＝1"])
def test_csv_neutralises_formulas(name: str) -> None:
    """Text that a spreadsheet would run starts with an apostrophe."""
    (cells,) = list(csv.reader(io.StringIO(csv_summary([replace(ROW, metric=name)]), newline="")))[1:]
    assert cells[3].startswith("'")
