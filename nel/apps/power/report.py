"""Shows the JSON of a plan of `nel power`: lines for the terminal, and the power curves as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from nel.core.texts import count_text
from nel.reports.html import environment
from nel.reports.numbers import MISSING, cost, count, seconds
from nel.types import JsonObject

_HOUR: Final = 3600
_BAR: Final = 40
"""Columns of a power of 100 %."""
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
"""What ends a bar within a column, by the eighths of it."""
_COLUMNS: Final = (
    "repeats",
    "questions",
    "answers a run",
    "tokens a run",
    "cost a run",
    "time a run",
    "all detect",
)


def power_lines(document: JsonObject) -> Iterator[str]:
    """Yield the plan line by line; numbers have narrow spaces between thousands."""
    yield _heading(document)
    yield _basis(document)
    yield ""
    yield from _table([list(_COLUMNS), *(_row(plan) for plan in document["plans"])])
    unavailable = [plan for plan in document["plans"] if not plan["is_available"]]
    if unavailable:
        yield f"* more questions than the {count(document['source']['questions'])} there are"
    yield ""
    yield _marginal(document["marginal"])
    if document["labels"]:
        labels = document["labels"]
        yield (
            f"With a judge that correlates {labels['correlation']:g} with people: label"
            f" {count(labels['labels'])} of {count(labels['judged'])} questions, on both sides."
        )
    for note in document["notes"]:
        yield f"note: {note}"
    yield ""
    yield from curve_lines(document)


def curve_lines(document: JsonObject) -> Iterator[str]:
    """Yield the power curve of the first number of repeats as a picture of text."""
    curve = document["curves"][0]
    repeats = count_text(curve["repeats"], "repeat")
    yield f"power to find {_points(document['effect'])} by questions, {repeats}"
    width = max(len(count(point["questions"])) for point in curve["points"])
    arrow = "  ←"
    for point in curve["points"]:
        line = (
            f"  {count(point['questions']):>{width}}  {_bar(point['power'])}"
            f"  {100 * point['power']:3.0f} %"
        )
        # The planned number of questions may have 0.8 less a rounding error.
        if point["power"] >= document["power"] - 1e-9:
            # It points at the first number of questions that is enough.
            line, arrow = f"{line}{arrow}", ""
        yield line


def power_svg(document: JsonObject) -> str:
    """Return the power curves, one for each number of repeats, as a self-contained picture."""
    curves = document["curves"]
    # The axis of the questions is logarithmic, as the steps of 20, 50, 100, 200 are.
    points = curves[0]["points"]
    begin, end = math.log(points[0]["questions"]), math.log(points[-1]["questions"])
    template = environment().get_template("power.svg.j2")
    return template.render(
        heading=_heading(document),
        title=f"Power to find {_points(document['effect'])}",
        curves=curves,
        power=document["power"],
        count_text=count_text,
        across=lambda questions: (math.log(questions) - begin) / (end - begin),
    )


def _heading(document: JsonObject) -> str:
    sides = "two-sided" if document["two_sided"] else "one-sided"
    return (
        f"To find {_points(document['effect'])} with a power of {100 * document['power']:g} % at"
        f" {100 * document['alpha']:g} % ({sides})"
    )


def _basis(document: JsonObject) -> str:
    source, variances = document["source"], document["variances"]
    benchmark = f" of {source['benchmark']}" if source["benchmark"] else ""
    runs = f" ({', '.join(source['runs'])})" if source["runs"] else ""
    parts = [
        f"variance of a difference between questions {variances['between']:.4f}",
        f"within {variances['within_baseline']:.4f} and {variances['within_candidate']:.4f}",
    ]
    if variances["discordant"] is not None:
        parts.append(f"discordant {100 * variances['discordant']:.1f} %")
    if variances["design_effect"] != 1:
        parts.append(f"design effect {variances['design_effect']:.2f}")
    return f"from {source['kind']}{benchmark}{runs}: {'; '.join(parts)}"


def _row(plan: JsonObject) -> list[str]:
    tokens = duration = None
    detectable = MISSING
    if plan["prompt_tokens"] is not None and plan["completion_tokens"] is not None:
        tokens = plan["prompt_tokens"] + plan["completion_tokens"]
    if plan["hours"] is not None:
        duration = plan["hours"] * _HOUR
    if plan["detectable"] is not None:
        detectable = _points(plan["detectable"])
    mark = "" if plan["is_available"] else " *"
    return [
        str(plan["repeats"]),
        count(plan["questions"]) + mark,
        count(plan["answers"]),
        count(tokens),
        cost(plan["cost"]),
        seconds(duration),
        detectable,
    ]


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))


def _marginal(marginal: JsonObject) -> str:
    start = (
        f"At {count(marginal['questions'])} questions and {count_text(marginal['repeats'], 'repeat')} the"
        f" standard error is {_points(marginal['standard_error'])}: one more repeat of each makes"
        f" it {_points(marginal['with_one_more_repeat'])}, as many answers to new questions"
        f" {_points(marginal['with_more_questions'])}"
    )
    if marginal["buys_more"] == "nothing":
        return f"{start}. There are no more questions, and repeats give the same answers again."
    if marginal["buys_more"] is None:
        return f"{start}. There are no more questions, and what repeats buy is not known."
    if marginal["buys_more"] == "questions":
        return f"{start}. New questions buy more."
    return f"{start}; there are no more questions, so repeats are what is left to buy."


def _points(effect: float) -> str:
    points = f"{100 * effect:.3g}"
    return f"{points} point" if points == "1" else f"{points} points"


def _bar(share: float) -> str:
    n_blocks, eighths = divmod(round(share * _BAR * 8), 8)
    bar = "█" * n_blocks
    if eighths:
        bar += _EIGHTHS[eighths]
    return bar.ljust(_BAR)
