"""Formats a leaderboard of runs by the scores of their rules: a table for each benchmark, and a
page of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nel.reports import numbers
from nel.reports.static_page import static_page, write_page
from nel.reports.tables.columns import Column, Figure, ReportTable, ValueKind

RANKED: Final = (
    Column("rank", ValueKind.COUNT),
    Column(
        "ranks",
        ValueKind.COUNT,
        lambda row: f"{row['rank_lower']} – {row['rank_upper']}",
        "ranks it may have",
    ),
    Column("run"),
    Column("score", ValueKind.SCORE),
    Column("better_than"),
    Column("worse_than"),
)


def ranked_table(document: Mapping[str, Any], benchmark: Mapping[str, Any]) -> ReportTable:
    """Return a row for each run, the best score first.

    Args:
        document: The whole leaderboard.
        benchmark: One of its benchmarks.
    """
    labels = [run["label"] for run in document["runs"]]
    alpha = 1 - document["level"]
    won = [
        (winner, loser)
        for pair in benchmark["pairs"]
        for winner, loser, p in (
            (pair["left"], pair["right"], pair["p_left_better"]),
            (pair["right"], pair["left"], pair["p_right_better"]),
        )
        if p <= alpha
    ]
    ordered = sorted(
        benchmark["ranks"], key=lambda rank: (rank["rank"] is None, rank["rank"], rank["run"])
    )
    rows = [
        {
            **rank,
            "run": labels[rank["run"]],
            "score": Figure(rank["score"], unit=benchmark["unit"]),
            "better_than": ", ".join(labels[b] for a, b in won if a == rank["run"]),
            "worse_than": ", ".join(labels[a] for a, b in won if b == rank["run"]),
        }
        for rank in ordered
    ]
    return ReportTable(RANKED, rows)


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
        table=ranked_table,
        method=method_line(document),
        open_lines=open_lines(document),
    )
    write_page(path, page)
