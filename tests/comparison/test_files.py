"""What a gate writes and a comparison shows: golden files in golden/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel.reports.comparison import benchmarks_table, flip_lines, lines
from nel.reports.comparison_page import html_page
from nel.reports.decision import JSON_NAME, JUNIT_NAME, MARKDOWN_NAME, STEP_SUMMARY, write_decision
from nel.version import __version__
from tests.comparison.conftest import compared
from tests.support.compared import comparison_example, decision_example, line, write_run

GOLDEN = Path(__file__).parent / "golden"
VERSION = "VERSION"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8").replace(VERSION, __version__)


def _near(value: Any) -> Any:
    """Return a JSON value whose numbers equal those that differ in the last digits."""
    if isinstance(value, dict):
        return {key: _near(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_near(one) for one in value]
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value


@pytest.mark.parametrize("name", [JSON_NAME, MARKDOWN_NAME, JUNIT_NAME])
def test_the_files_of_a_decision_are_as_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The same two runs and policy give the same bytes; without the variable of a CI step nothing else is written."""
    monkeypatch.delenv(STEP_SUMMARY, raising=False)
    paths = write_decision(decision_example(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert json.loads(written) == _near(json.loads(golden(name))) if name == JSON_NAME else written == golden(name)


def test_a_comparison_is_shown_as_published() -> None:
    """The table's row, the evidence and the samples that changed."""
    (candidate,) = comparison_example()["candidates"]
    (one,) = candidate["benchmarks"]
    shown = [" | ".join(benchmarks_table(candidate, 0.95).texts()[0]), *lines(one), *flip_lines(one)]
    assert "\n".join(shown) + "\n" == golden("comparison.txt")


def _hostile(tmp_path: Path) -> dict[str, Any]:
    evil = "<script>alert(1)</script>\x1b]8;;x\x07 | @all [x](javascript:1) \u202e"
    before = [line(idx, 1.0, category=evil, answer=evil) for idx in range(20)]
    after = [line(idx, 0.0, category=evil, answer=evil, model=evil) for idx in range(20)]
    return compared(write_run(tmp_path / "a", before), write_run(tmp_path / "b", after))


def test_answers_cannot_break_out_of_a_page_or_a_terminal(tmp_path: Path) -> None:
    """Markup and control characters of answers, categories and model names are shown as text."""
    document = _hostile(tmp_path)
    page = "".join(html_page(document))
    assert "<script>" not in page
    assert "\x1b" not in page
    one = document["candidates"][0]["benchmarks"][0]
    assert not any("\x1b" in text or "\u202e" in text for text in [*lines(one), *flip_lines(one)])


def test_a_question_without_a_gold_answer_expects_nothing(tmp_path: Path) -> None:
    """A judged question that has no reference has no line for one, on the terminal and on the page."""
    before, after = ([{**line(idx, reward), "expected_answer": None} for idx in range(20)] for reward in (1.0, 0.0))
    document = compared(write_run(tmp_path / "a", before), write_run(tmp_path / "b", after))
    shown = "".join(flip_lines(document["candidates"][0]["benchmarks"][0]))
    assert ("prompt:" in shown, "expected:" in shown) == (True, False)
    assert "<h4>Expected" not in "".join(html_page(document))
