"""Shows a leaderboard as leaderboard.html, one self-contained page without a script, and as lines.

Depends on the content of leaderboard.json alone. Names of models are untrusted: every printed value
passes the escaping of `nel.reports.html`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nel.core.atomic_files import write_file
from nel.reports import numbers
from nel.reports.static_page import static_page

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
        rows=shown_rows(board),
        matrix=matrix(board),
        banners=banners(board),
        has_length=board["length_control"] is not None,
        judge=judge_text(board),
    )


def judge_text(board: Mapping[str, Any]) -> str:
    """Return the names of those who judged."""
    panel = (board["judge"] or {}).get("panel") or []
    return ", ".join(str(member["name"]) for member in panel) or "no judge"


def shown_rows(board: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the models in the board's order, each number as text."""
    is_controlled = board["length_control"] is not None
    return [_row(model, is_controlled=is_controlled) for model in board["models"]]


def _row(model: Mapping[str, Any], *, is_controlled: bool) -> dict[str, object]:
    rating = model["length_controlled"] if is_controlled else None
    rate = model["win_rate"]
    return {
        "label": model["label"],
        "reason": (rating or model)["reason"],
        "rank": _rank(rating if rating and rating["rank"] is not None else model),
        "elo": _rating(model["elo"]),
        "controlled_elo": _rating(rating["elo"] if rating else None),
        "controlled_rate": _share(rating["expected_win_rate"] if rating else None),
        "rate": _share(rate),
        "won": f"{rate['wins']} / {rate['ties']} / {rate['losses']}",
        "n": numbers.count(rate["n"]),
        "flips": numbers.count(model["flips"]),
        "failed": ", ".join(f"{kind} {numbers.count(n)}" for kind, n in model["failed"].items()),
        "left_out": numbers.count(model["left_out"]),
    }


def _rank(standing: Mapping[str, object]) -> str:
    if standing["rank"] is None:
        return numbers.MISSING
    lower, upper = standing["rank_lower"], standing["rank_upper"]
    return f"{standing['rank']}" + (
        "" if lower is None or lower == upper else f" ({lower}–{upper})"
    )


def _rating(elo: Mapping[str, object] | None) -> str:
    return _figure(elo, lambda value: numbers.count(round(value)))


def _share(rate: Mapping[str, object] | None) -> str:
    return _figure(rate, lambda value: f"{value * 100:.1f}", f"{numbers.THIN}%")


def _figure(
    estimate: Mapping[str, Any] | None, write: Callable[[float], str], unit: str = ""
) -> str:
    """Return a number with its interval, where it has them."""
    if estimate is None or estimate["value"] is None:
        return numbers.MISSING
    value = f"{write(estimate['value'])}{unit}"
    if estimate["ci_lower"] is None or estimate["ci_upper"] is None:
        return value
    return f"{value} ({write(estimate['ci_lower'])}–{write(estimate['ci_upper'])})"


def matrix(board: Mapping[str, Any]) -> list[dict[str, object]]:
    """Return for each model, in the board's order, what it won of each other: text, number of pairs
    and share.
    """
    by_pair: dict[tuple[str, str], tuple[float, int]] = {}
    for pair in board["pairs"]:
        rate = pair["win_rate"]
        if rate["value"] is not None:
            by_pair[pair["left"], pair["right"]] = (rate["value"], rate["n"])
            by_pair[pair["right"], pair["left"]] = (1 - rate["value"], rate["n"])
    labels = [model["label"] for model in board["models"]]
    rows = []
    for label in labels:
        cells = [by_pair.get((label, other)) for other in labels]
        row_cells = [
            (
                {"text": "" if label == other else numbers.MISSING, "n": None}
                if cell is None
                else {"text": f"{cell[0] * 100:.0f}{numbers.THIN}%", "n": cell[1]}
            )
            for other, cell in zip(labels, cells, strict=True)
        ]
        rows.append({"label": label, "cells": row_cells})
    return rows


def label_corrected_lines(board: Mapping[str, Any]) -> list[str]:
    """Return each model's win rate as corrected by people's labels, where there are any."""
    return [
        f"win rate of {model['label']}, corrected by {numbers.count(corrected['n_labelled'])} labels:"
        f" {_estimate_text(corrected)}"
        for model in board["models"]
        if (corrected := model.get("label_corrected")) is not None
    ]


def alpaca_eval_lines(board: Mapping[str, Any]) -> list[str]:
    """Return each model's length-controlled win rate of AlpacaEval 2 against the baseline, where
    there is one.
    """
    baseline = board["statistics"]["baseline"]
    return [
        f"AlpacaEval 2, length-controlled, {model['label']} against {baseline}:"
        f" {_estimate_text(estimate)}"
        for model in board["models"]
        if (estimate := model.get("alpaca_eval_2")) is not None
    ]


def _estimate_text(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return f"undefined: {estimate['reason']}"
    span = numbers.interval(estimate["ci_lower"], estimate["ci_upper"], share=True)
    return f"{numbers.percent(estimate['value'])} {span}"


def banners(board: Mapping[str, Any]) -> list[str]:
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
    for judge in dict.fromkeys(ranking["judge"] for ranking in board["same_family"]):
        kin = ", ".join(
            ranking["model"] for ranking in board["same_family"] if ranking["judge"] == judge
        )
        lines.append(f"{judge} judges models of its own family, which it may favour: {kin}.")
    rate = board["position"]["flips"]["value"]
    if rate is not None and rate >= LOUD_FLIP_RATE:
        lines.append(
            f"{numbers.percent(rate)} of the verdicts change with the order in which the answers"
            " are shown: the judge is swayed by position, or undecided."
        )
    return lines


def _uncounted_notes(board: Mapping[str, Any]) -> list[str]:
    """Return what is said of pairs that no judge settled."""
    counts = board["counts"]
    parts: Counter[str] = Counter()
    for left_out in board["left_out"]:
        whose = "" if left_out["of"] == "judge" else f" of {left_out['of']}"
        parts[f"{left_out['reason']}{whose}"] += left_out["n"]
    lines = []
    apart, compared = board["scheduling"]["n_questions_apart"], counts["questions"]
    if apart:
        lines.append(
            "Questions that not all runs have, so that nothing is compared on them:"
            f" {numbers.count(apart)}."
        )
    if 0 < compared < QUESTIONS_FEW:
        some = "question is" if compared == 1 else "questions are"
        lines.append(
            f"Only {numbers.count(compared)} {some} compared; with fewer than {QUESTIONS_FEW} the"
            " intervals of Elo and rank, where there are any, tend to be too narrow."
        )
    if parts:
        listed = ", ".join(f"{name} {numbers.count(n)}" for name, n in sorted(parts.items()))
        lines.append(
            f"{numbers.count(counts['left_out'])} of {numbers.count(counts['pairs'])} pairs are"
            f" left out ({listed}); they count for neither model."
        )
    if counts["forfeits"]:
        lines.append(
            "Pairs settled without the judge, because an answer failed and so lost: "
            f"{numbers.count(counts['forfeits'])}."
        )
    return lines
