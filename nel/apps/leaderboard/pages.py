"""Shows a leaderboard as leaderboard.html, one self-contained page without a script, and as lines.

Depends on the content of leaderboard.json alone. Names of models are untrusted: every printed value
passes the escaping of `nel.reports.html`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from nel.core.atomic_files import write_file
from nel.reports import numbers
from nel.reports.static_page import static_page
from nel.reports.tables.columns import Column, Figure, ReportTable, ValueKind
from nel.types import JsonObject

HTML_NAME: Final = "leaderboard.html"
LOUD_FLIP_RATE: Final = 0.2
"""From this share of verdicts that change with the order on, there is a banner."""
QUESTIONS_FEW: Final = 30


def write_html(directory: Path, board: Mapping[str, object]) -> None:
    """Write the page of a leaderboard, replacing an older one atomically.

    Raises:
        StoppedEarly: The disk is full.
    """
    write_file(directory / HTML_NAME, (chunk.encode() for chunk in html_page(board)))


def html_page(board: Mapping[str, object]) -> Iterator[str]:
    """Return the page in chunks; the same board gives the same text."""
    return static_page(
        "leaderboard",
        board=board,
        models=ranked_table(board),
        counts=counts_table(board),
        matrix=matrix_table(board),
        banners=banners(board),
        has_length=board["length_control"] is not None,
        judge=judge_text(board),
    )


def judge_text(board: JsonObject) -> str:
    """Return the names of those who judged."""
    panel = (board["judge"] or {}).get("panel") or []
    return ", ".join(str(member["name"]) for member in panel) or "no judge"


def ranked_table(board: JsonObject) -> ReportTable:
    """Return the ranking: a row for each model, by its rating at equal length where it has one."""
    is_controlled = board["length_control"] is not None

    def rating(model: JsonObject) -> JsonObject:
        return (model["length_controlled"] if is_controlled else None) or model

    columns = [
        Column("rank", ValueKind.COUNT, lambda model: _rank(rating(model), model)),
        Column("label", heading="model", note=lambda model: rating(model)["reason"]),
        _figure("elo", "Elo", "whole"),
        _figure("win_rate", "win rate", "rate"),
    ]
    if is_controlled:  # each before the column of the same number without control
        columns[3:3] = [_figure("expected_win_rate", _EQUAL.format("win rate"), "rate", _AT_EQUAL)]
        columns[2:2] = [_figure("elo", _EQUAL.format("Elo"), "whole", _AT_EQUAL)]
    return ReportTable(columns, board["models"])


def counts_table(board: JsonObject) -> ReportTable:
    """Return what was counted of each model."""
    won, flips, left_out = COUNTED
    columns = (
        Column("label", heading="model"),
        Column("n", ValueKind.COUNT, lambda model: model["win_rate"]["n"], "pairs"),
        won,
        replace(flips, heading="verdicts that changed with the order"),
        Column(
            "failed",
            ValueKind.PARTS,
            lambda model: model["failed"] or "none",
            "lost by a failed answer",
        ),
        left_out,
    )
    return ReportTable(columns, board["models"])


def board_table(board: JsonObject) -> ReportTable:
    """Return the ranking with what was counted, for a terminal."""
    table = ranked_table(board)
    return table._replace(columns=[*table.columns, *COUNTED])


def matrix_table(board: JsonObject) -> ReportTable:
    """Return for each model, in the board's order, what it won of each other."""
    rates: dict[tuple[str, str], tuple[float, int]] = {}
    for pair in board["pairs"]:
        value, n = pair["win_rate"]["value"], pair["win_rate"]["n"]
        if value is not None:
            rates[pair["left"], pair["right"]] = value, n
            rates[pair["right"], pair["left"]] = 1 - value, n

    def column(rival: str) -> Column:
        def rate(label: str) -> Figure | str | None:
            if label == rival:
                return ""
            return Figure(rates[label, rival][0]) if (label, rival) in rates else None

        def pairs(label: str) -> str:
            if (label, rival) not in rates:
                return ""
            return f"n {numbers.count(rates[label, rival][1])}"

        return Column(rival, ValueKind.SCORE, rate, rival, note=pairs)

    labels = [model["label"] for model in board["models"]]
    return ReportTable([Column("won by", of=str), *map(column, labels)], labels)


def _rank(rating: JsonObject, model: JsonObject) -> str | None:
    """Return the rank of a model by a rating, else its own, with those that it may have."""
    standing = model if rating["rank"] is None else rating
    if standing["rank"] is None:
        return None
    lower, upper = standing["rank_lower"], standing["rank_upper"]
    ends = "" if lower is None or lower == upper else f" ({lower} – {upper})"
    return f"{standing['rank']}{ends}"


def _figure(key: str, heading: str, unit: str, group: str = "") -> Column:
    """Return the column of an estimate.

    Args:
        key: Of the estimate in the model, or in a group of its numbers.
        heading: Of the column.
        unit: Of the numbers.
        group: Of the model's numbers, such as those at equal length; empty for none.
    """

    def figure(model: JsonObject) -> Figure | None:
        estimates = model[group] or {} if group else model
        estimate = estimates.get(key)
        if not estimate or estimate["value"] is None:
            return None
        return Figure.of(estimate, unit)

    return Column(f"{group}{key}", ValueKind.WITH_INTERVAL, figure, heading)


def _won(model: JsonObject) -> str:
    rate = model["win_rate"]
    return f"{rate['wins']} / {rate['ties']} / {rate['losses']}"


_EQUAL: Final = "{} at equal length"
_AT_EQUAL: Final = "length_controlled"
COUNTED: Final = (
    Column("won", ValueKind.COUNT, _won, "won / tied / lost"),
    Column("flips", ValueKind.COUNT),
    Column("left_out", ValueKind.COUNT),
)


def label_corrected_lines(board: JsonObject) -> list[str]:
    """Return each model's win rate as corrected by people's labels, where there are any."""
    lines = []
    for model in board["models"]:
        corrected = model.get("label_corrected")
        if corrected is not None:
            lines.append(
                f"win rate of {model['label']}, corrected by"
                f" {numbers.count(corrected['n_labelled'])} labels: {_estimate_text(corrected)}"
            )
    return lines


def alpaca_eval_lines(board: JsonObject) -> list[str]:
    """Return each model's length-controlled win rate of AlpacaEval 2, where there is one."""
    baseline = board["statistics"]["baseline"]
    lines = []
    for model in board["models"]:
        estimate = model.get("alpaca_eval_2")
        if estimate is not None:
            lines.append(
                f"AlpacaEval 2, length-controlled, {model['label']} against {baseline}:"
                f" {_estimate_text(estimate)}"
            )
    return lines


def _estimate_text(estimate: JsonObject) -> str:
    if estimate["value"] is None:
        return f"undefined: {estimate['reason']}"
    return Figure.of(estimate, "rate").with_span


def banners(board: JsonObject) -> list[str]:
    """Return what can move the ranking and must stand beside it."""
    lines = []
    if not board["complete"]:
        lines.append(
            "This leaderboard is PARTIAL: pairs have not been judged; resume it before reading the"
            " ranks."
        )
    lines += _uncounted_notes(board)
    reasons = [model["reason"] for model in board["models"]]
    if len(set(reasons)) > 1:
        lines += [
            f"{model['label']} has no Elo: {model['reason']}."
            for model in board["models"]
            if model["reason"]
        ]
    rankings = {"Elo": board["bradley_terry"], "Elo at equal length": board["length_control"]}
    lines += [
        f"{name}: {ranking['reason']}."
        for name, ranking in rankings.items()
        if ranking is not None and ranking["reason"]
    ]
    relatives: dict[str, list[str]] = {}
    for pair in board["same_family"]:
        relatives.setdefault(pair["judge"], []).append(pair["model"])
    for judge, models in relatives.items():
        lines.append(
            f"{judge} judges models of its own family, which it may favour: {', '.join(models)}."
        )
    rate = board["position"]["flips"]["value"]
    if rate is not None and rate >= LOUD_FLIP_RATE:
        lines.append(
            f"{numbers.percent(rate)} of the verdicts change with the order in which the answers"
            " are shown: the judge is swayed by position, or undecided."
        )
    return lines


def _uncounted_notes(board: JsonObject) -> list[str]:
    """Return notes on pairs that no judge decided."""
    counts = board["counts"]
    n_by_reason: Counter[str] = Counter()
    for omission in board["left_out"]:
        whose = "" if omission["of"] == "judge" else f" of {omission['of']}"
        n_by_reason[f"{omission['reason']}{whose}"] += omission["n"]
    lines = []
    n_apart, n_compared = board["scheduling"]["n_questions_apart"], counts["questions"]
    if n_apart:
        lines.append(
            "Questions that not all runs have, so that nothing is compared on them:"
            f" {numbers.count(n_apart)}."
        )
    if 0 < n_compared < QUESTIONS_FEW:
        subject = "question is" if n_compared == 1 else "questions are"
        lines.append(
            f"Only {numbers.count(n_compared)} {subject} compared; with fewer than"
            f" {QUESTIONS_FEW} the intervals of Elo and rank, where there are any, tend to be too"
            " narrow."
        )
    if n_by_reason:
        reasons = ", ".join(f"{name} {numbers.count(n)}" for name, n in sorted(n_by_reason.items()))
        lines.append(
            f"{numbers.count(counts['left_out'])} of {numbers.count(counts['pairs'])} pairs are"
            f" left out ({reasons}); they count for neither model."
        )
    if counts["forfeits"]:
        lines.append(
            "Pairs settled without the judge, because an answer failed and so lost: "
            f"{numbers.count(counts['forfeits'])}."
        )
    return lines
