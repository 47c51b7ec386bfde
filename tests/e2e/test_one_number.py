"""One number has one form: four kinds of runs, and every text in which their headline stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.every_output import KINDS, build_runs, metric_of, sides_of, texts_of
from tests.support.runs import read_json
from tests.support.tiers import representatives

UNROUNDED = {
    *("metrics.json", "summary.json", "summary.csv", "metrics.csv", "resume-json"),
}
"""Texts for programs."""
WITHOUT_INTERVAL = {
    "watch",
    "compare",
    "compare.html",
    "gate",
    "decision.md",
    "leaderboard",
    "board.html",
    "view-compare",
}
"""Texts of scores beside others, or so far."""
OF_BENCHMARKS = {"metrics.json", "metrics.csv", "watch", "floors"}
"""Texts without means over several benchmarks."""
OF_REASONS = {"decision.json", "decision.junit.xml"}
"""What a gate holds of the interval alone."""


@pytest.mark.parametrize("kind", representatives(KINDS, "judged", "unscored", "matrix"))
def test_a_score_has_the_same_digits_in_every_output(tmp_path: Path, kind: str) -> None:
    """Value and interval of the headline and of a mean over benchmarks, and other metrics, groups and the corrected
    score where they are shown; a group has its own n, and unscored samples stand with their cause.
    """
    build_runs(tmp_path, kind)
    run, _ = sides_of(tmp_path, kind)
    texts = {name: _plain(text) for name, text in texts_of(tmp_path, kind).items()}
    metrics = [read_json(path) for path in run.glob("*/metrics.json")]
    means = read_json(run / "aggregates.json")["aggregates"] if kind == "matrix" else []
    for headline in [*(each["headline"] for each in metrics), *means]:
        for name, text in texts.items():
            if headline in means and name in OF_BENCHMARKS:
                continue
            if name in UNROUNDED:
                numbers = set(_numbers(text))
                assert {headline[key] for key in ("value", "ci_lower", "ci_upper")} <= numbers, name
            elif name not in OF_REASONS | {"matrix"}:
                assert _percent(headline["value"]) in text, name
                is_of_bounds = name == "floors" and kind == "unscored"
                assert name in WITHOUT_INTERVAL or is_of_bounds or _span(headline) in text, name
        if kind == "matrix":
            assert f"{_percent(headline['value'])} ({_span(headline)})" in texts["matrix"]
    for each in metrics:
        _check_further(each, texts, kind)
    if kind == "matrix":
        _check_counts_of_groups(run)
    elif kind == "unscored":
        _check_causes_of_unscored(run)


def _check_further(metrics: dict[str, Any], texts: dict[str, str], kind: str) -> None:
    terminal, pages = texts.get("resume", ""), [texts["report.html"], texts["view-run"]]
    for row in metrics["metrics"]:
        assert all(re.search(rf"{re.escape(row['name'])}.*{_percent(row['value'])}", page, re.DOTALL) for page in pages)
        assert not terminal or re.search(
            rf"{re.escape(row['name'])} +{_percent(row['value'])} .* {row['n']}$", terminal, re.MULTILINE
        )
    for name, part in metrics["categories"].items():
        shown = f"{name}.*?{_percent(part['value'])}.*?{_span(part)}.*?{part['n_total']}"
        assert all(re.search(shown, page, re.DOTALL) for page in pages)
    if metrics["headline"]["metric"] == metric_of(kind) == "judge_score":
        corrected = metrics["judging"]["corrected"]["ppi"]
        assert f"{_percent(corrected['value'])}   {_span(corrected)}   20 labels" in terminal
        assert f"Corrected by labels: {_percent(corrected['value'])}, {_span(corrected)}" in pages[0]


def _check_counts_of_groups(run: Path) -> None:
    grouped = read_json(run / "groups" / "metrics.json")
    assert {row["name"]: row["n"] for row in grouped["metrics"][1:]} == {
        "grouped/law": 10,
        "grouped/physics": 20,
        "grouped/all": 30,
    }


def _check_causes_of_unscored(run: Path) -> None:
    (row,) = read_json(run / "summary.json")["rows"]
    assert (row["n_total"], row["n_unscored"], row["failures"]) == (30, 4, {"infra:bad_request": 4})
    assert "infra:bad_request 4" in _plain((run / "report.html").read_text())


def _plain(text: str) -> str:
    """Return a text without tags and with one kind of space."""
    return (
        re.sub(r"<[^>]*>", " ", text).replace("\\,", " ").replace("\\%", "%").replace("--", "–").replace("\u202f", " ")
    )


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def _span(row: dict[str, Any]) -> str:
    return f"{100 * row['ci_lower']:.2f} – {100 * row['ci_upper']:.2f} %"


def _numbers(text: str) -> Iterator[float]:
    return (float(number) for number in re.findall(r"\d\.\d+(?:e-\d+)?", text))
