"""The results that a page shows: what becomes of choices, and of a damaged file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nel.artifacts.runtime import RuntimeStats
from nel.errors import OutputError
from nel.reports.html import render_report
from nel.reports.run_files import stored_files
from nel.reports.samples import select
from nel.types import Response
from tests.reports.run_fixture import make_rows, runtime_of, write_benchmark
from tests.support.report_pages import samples_of


def test_a_damaged_line_is_named_by_its_number(tmp_path: Path) -> None:
    """By the line of the file."""
    write_benchmark(tmp_path / "quiz", "quiz", make_rows(40))
    path = tmp_path / "quiz" / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:30], b"[1\n", *lines[30:]]))
    with pytest.raises(OutputError, match="line 31 is not strict JSON"):
        select(stored_files(tmp_path))


def test_choices_have_their_options_their_words_and_a_matrix(tmp_path: Path) -> None:
    """The options are those of the row; expected and read are a label with its text."""
    rows = make_rows(40, unscored=3)
    for row in rows:
        row["metadata"]["choices"] = [f"text of {label}" for label in "ABCDEFGHIJ"]
    write_benchmark(tmp_path / "quiz", "quiz", rows)
    files = stored_files(tmp_path)
    (selection,) = select(files)
    assert selection.confusion is not None
    n_counted = sum(n for _, counts in selection.confusion.rows for n, _ in counts)
    assert n_counted == sum(row["outcome"]["state"] != "unscored" for row in rows) == 37
    for row, details in zip(rows, samples_of(selection)["samples"], strict=True):
        label, extracted = row["expected_answer"], row["extracted_answer"]
        assert details["expected"] == f"{label}: text of {label}"
        assert details["extracted"] == ("nothing" if extracted is None else f"{extracted}: text of {extracted}")
        assert ["C", "text of C", label == "C", extracted == "C"] in details["options"]
    assert "Confusion matrix" in "".join(render_report(tmp_path))


def test_what_a_judge_read_is_no_choice(tmp_path: Path) -> None:
    """A judge reads the whole answer: no matrix counts it as an option, and no page says that it was extracted."""
    rows = make_rows(40)
    for row in rows:
        row["metadata"]["choices"] = ["red", "blue"]
        row["extracted_answer"] = row["model_response"]
        row["scoring_details"] = {"judgements": [{"template": "graded_qa"}]}
    write_benchmark(tmp_path / "quiz", "quiz", rows)
    files = stored_files(tmp_path)
    (selection,) = select(files)
    assert selection.confusion is None
    assert {details["extracted"] for details in samples_of(selection)["samples"]} == {"the whole answer, by a judge"}


def test_episodes_are_added_up(tmp_path: Path) -> None:
    """The page of a run of agents says how many steps, calls and failed calls there were."""
    directory = write_benchmark(tmp_path / "quiz", "quiz", make_rows(4))
    stats = RuntimeStats()
    for errors in ({}, {"tool_error": 2}):
        used = {"steps": 3, "tool_calls": 2, "tool_errors": errors, "ended_by": "solver"}
        stats.add_answer(Response(text="", attempts=1, episode=used))
    runtime = {**runtime_of("quiz", []), "episodes": stats.as_json([], has_prices=False)["episodes"]}
    (directory / "runtime_stats.json").write_text(json.dumps(runtime))
    page = "".join(render_report(tmp_path))
    for text in ("Of 2 episodes", '<td class="num strong">6</td>', "tool_error 2", "solver 2"):
        assert text in page
