"""Formats a leaderboard of runs by the scores of their rules: a table for each benchmark, and a
page of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nel.reports import numbers
from nel.reports.static_page import static_page, write_page

HEADINGS: Final = ("rank", "ranks it may have", "run", "score", "better than", "worse than")


def rows(document: Mapping[str, Any], benchmark: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each run, the best score first.

    Args:
        document: The whole leaderboard.
        benchmark: One of its benchmarks.
    """
    labels = [run["label"] for run in document["runs"]]
    alpha = 1 - document["level"]
    above: dict[int, list[str]] = {position: [] for position in range(len(labels))}
    below: dict[int, list[str]] = {position: [] for position in range(len(labels))}
    for pair in benchmark["pairs"]:
        for winner, loser, p in (
            (pair["left"], pair["right"], pair["p_left_better"]),
            (pair["right"], pair["left"], pair["p_right_better"]),
        ):
            if p <= alpha:
                below[winner].append(labels[loser])
                above[loser].append(labels[winner])
    ordered = sorted(
        benchmark["ranks"], key=lambda pair: (pair["rank"] is None, pair["rank"], pair["run"])
    )
    return [
        (
            numbers.count(pair["rank"]),
            f"{pair['rank_lower']} – {pair['rank_upper']}",
            labels[pair["run"]],
            _score(pair["score"]),
            ", ".join(below[pair["run"]]),
            ", ".join(above[pair["run"]]),
        )
        for pair in ordered
    ]


def method_line(document: Mapping[str, Any]) -> str:
    """Return how the ranks were made, in a sentence."""
    level = numbers.percent(document["level"])
    despite = (
        f"; although these differ: {', '.join(document['despite'])}" if document["despite"] else ""
    )
    return (
        f"all ranks of the table lie in their intervals at once with {level}:"
        f" {document['method']}{despite}"
    )


def open_lines(document: Mapping[str, Any]) -> list[str]:
    """Return a line for each pair that cannot be told apart for another reason than chance, and
    each run's warnings.
    """
    labels = [run["label"] for run in document["runs"]]
    return [
        f"{benchmark['name']}: {labels[pair['left']]} and {labels[pair['right']]}: {pair['reason']}"
        for benchmark in document["benchmarks"]
        for pair in benchmark["pairs"]
        if pair["reason"] and pair["p_left_better"] == pair["p_right_better"] == 1
    ] + list(document["warnings"])


def write_standings_page(document: Mapping[str, Any], path: Path) -> None:
    """Write the page, replacing an older one atomically.

    Raises:
        OutputError: The directory of the file is not there.
        StoppedEarly: The disk is full.
    """
    page = static_page(
        "standings",
        document=document,
        headings=HEADINGS,
        rows=rows,
        method=method_line(document),
        open_lines=open_lines(document),
    )
    write_page(path, page)


def _score(score: float | None) -> str:
    if score is None:
        return "no score"
    return numbers.figure(score, share=0 <= score <= 1)
