"""Formats a leaderboard of runs by the scores of their rules: tables, and a page of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nel.reports import numbers
from nel.reports.static_page import static_page, write_page
from nel.reports.tables.columns import Column, Figure, ReportTable, ValueKind
from nel.types import JsonObject

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


def ranked_table(document: JsonObject, benchmark: JsonObject) -> ReportTable:
    """Return a row for each run, the best score first.

    Args:
        document: The whole leaderboard.
        benchmark: One of its benchmarks.
    """
    labels = [run["label"] for run in document["runs"]]
    alpha = 1 - document["level"]
    better_than: dict[int, list[str]] = {}
    worse_than: dict[int, list[str]] = {}
    for pair in benchmark["pairs"]:
        left, right = pair["left"], pair["right"]
        for winner, loser, p in (
            (left, right, pair["p_left_better"]),
            (right, left, pair["p_right_better"]),
        ):
            if p <= alpha:
                better_than.setdefault(winner, []).append(labels[loser])
                worse_than.setdefault(loser, []).append(labels[winner])
    # A run without a rank comes last; of two of them, the one that was named first.
    ordered = sorted(
        benchmark["ranks"], key=lambda rank: (rank["rank"] is None, rank["rank"], rank["run"])
    )
    rows = [
        {
            **rank,
            "run": labels[rank["run"]],
            "score": Figure(rank["score"], unit=benchmark["unit"]),
            "better_than": ", ".join(better_than.get(rank["run"], ())),
            "worse_than": ", ".join(worse_than.get(rank["run"], ())),
        }
        for rank in ordered
    ]
    return ReportTable(RANKED, rows)


def method_line(document: JsonObject) -> str:
    """Return how the ranks were made, in a sentence."""
    level = numbers.percent(document["level"])
    despite = ""
    if document["despite"]:
        despite = f"; although these differ: {', '.join(document['despite'])}"
    return (
        f"all ranks of the table lie in their intervals at once with {level}:"
        f" {document['method']}{despite}"
    )


def open_lines(document: JsonObject) -> list[str]:
    """Return the warnings, after a line for each pair left open for another reason than chance."""
    labels = [run["label"] for run in document["runs"]]
    lines = []
    for benchmark in document["benchmarks"]:
        for pair in benchmark["pairs"]:
            if pair["reason"] and pair["p_left_better"] == pair["p_right_better"] == 1:
                names = f"{labels[pair['left']]} and {labels[pair['right']]}"
                lines.append(f"{benchmark['name']}: {names}: {pair['reason']}")
    return [*lines, *document["warnings"]]


def write_standings_page(document: JsonObject, path: Path) -> None:
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
