"""Formats ``judging`` of metrics.json as lines of text, for the terminal and for pages.

Names of judges and templates come from configurations and datasets; the caller escapes each line
before printing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nel.judges.record import judgements_in
from nel.reports import numbers
from nel.reports.tables.columns import Figure
from nel.reports.text import as_text, cut, preview
from nel.types import JsonObject

_NAMES_MAX: Final = 4
_JUDGEMENTS_MAX: Final = 8
_OPINIONS_MAX: Final = 12
_REPLY_CHARACTERS_MAX: Final = 1_000
_LABEL_CHARACTERS_MAX: Final = 120


def judged_line(judging: JsonObject) -> str:
    """Return who judged, in which way, and how much is without a verdict, in one line.

    >>> judged_line({"judges": [{"name": "gpt-4o", "cases": 200}], "templates": {"binary_qa": 200}, "n_judged": 200,
    ...              "n_without_grade": {"n": 3, "kinds": {"no_quorum": 3}}, "warnings": []})
    'judged by gpt-4o (binary_qa); 3 of 200 without verdict (no_quorum 3)'
    """
    judges = judging["judges"]
    by = "to be judged, but no judge is configured"
    if judges:
        by = f"judged by {_name_list([_judge_name(judge) for judge in judges])}"
        if not any(judge["cases"] for judge in judges):
            by = f"to be {by} (not asked)"
    if judging["templates"]:
        by += f" ({_name_list(list(judging['templates']))})"
    without_grade = judging["n_without_grade"]
    line = f"{by}; {without_grade['n']:,} of {judging['n_judged']:,} without verdict"
    kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(without_grade["kinds"].items()))
    return f"{line} ({kinds})" if kinds else line


def judged_text(metrics: JsonObject) -> str:
    """Return `judged_line` of a benchmark; empty where nothing was judged."""
    judging = metrics.get("judging")
    return judged_line(judging) if judging else ""


def settings_line(judging: JsonObject) -> str:
    """Return how opinions became grades, as far as the configuration says."""
    settings = judging.get("settings") or {}
    phrases = []
    if len(judging["judges"]) > 1 and settings.get("aggregate"):
        aggregate = f"{settings['aggregate']} of the panel"
        if settings.get("quorum"):
            aggregate += f", at least {settings['quorum']} verdicts"
        phrases.append(aggregate)
    if (settings.get("repeats") or 1) > 1:
        phrases.append(f"each case asked {settings['repeats']} times")
    if judging["position_swap"]:
        phrases.append("pairs shown in both orders")
    return "; ".join(phrases)


def _judge_name(judge: Mapping[str, object]) -> str:
    """Return a judge's name, with the model's where that is another."""
    name, model = str(judge["name"]), judge.get("model")
    return name if model in (None, name) else f"{name}={model}"


def agreement_figure(measure: JsonObject, *, share: bool = False) -> Figure:
    """Return a measure of agreement: a rate, or a coefficient with three decimals."""
    return Figure.of(measure, "rate" if share else "coefficient")


def shown_judgements(records: object) -> list[dict[str, object]]:
    """Return a sample's judgements as shown: each judge's grade, and a preview of its reply."""
    return [_shown_judgement(record) for record in judgements_in(records)[:_JUDGEMENTS_MAX]]


def _shown_judgement(record: JsonObject) -> dict[str, object]:
    return {
        "template": _label(record["template"]),
        "grade": _grade_text(record.get("grade"), record.get("score")),
        "opinions": [_shown_opinion(opinion) for opinion in record["opinions"][:_OPINIONS_MAX]],
    }


def _shown_opinion(opinion: JsonObject) -> dict[str, object]:
    repeats = [
        "no verdict" if repeat is None else _label(repeat[0]) for repeat in opinion["repeats"]
    ]
    questions = [f"{_label(label)}: {_label(grade)}" for label, grade in opinion["questions"]]
    notes = {
        "repeats": ", ".join(repeats),
        "questions": ", ".join(questions),
        "asked again": str(opinion["reasked"] or ""),
    }
    fault = opinion.get("fault")
    return {
        "judge": _label(opinion["judge"]),
        "grade": _grade_text(opinion.get("grade"), opinion.get("score")),
        "fault": None if fault is None else _label(fault),
        "notes": [[name, text] for name, text in notes.items() if text],
        "reply": preview(as_text(opinion.get("reply") or ""), characters_max=_REPLY_CHARACTERS_MAX),
    }


def _grade_text(label: str | None, score: object) -> str | None:
    if label is None:
        return None
    text = _label(label)
    if not isinstance(score, (int, float)):
        return text
    # The grade of a scale is its own score: "4" and not "4 (4)".
    number = numbers.plain(score)
    return text if number == text else f"{text} ({number})"


def _label(value: object) -> str:
    return cut(value, _LABEL_CHARACTERS_MAX)


def _name_list(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    *first_names, end = names
    if len(names) > _NAMES_MAX:
        first_names = names[:_NAMES_MAX]
        end = f"{len(names) - _NAMES_MAX} more"
    return f"{', '.join(first_names)} and {end}"
