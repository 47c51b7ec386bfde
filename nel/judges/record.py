"""A judgement as JSON values: what results.jsonl keeps of it beside the score. Pure.

The whole replies are in run.db; here each is cut to what a reader looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from nel.judges.types import Aggregate, Grade, Judgement, Level, Opinion

KEY: Final = "judgements"
"""Where they stand among the details of an outcome: a list, in the order in which the scorer asked."""
REPLY_CHARACTERS_MAX: Final = 2_000
PASSING: Final = frozenset(
    {"outage", "connection", "connect_timeout", "first_byte_timeout", "idle_timeout", "timeout", "rate_limit"}
    | {"server_error", "quota", "auth", "not_found", "tls", "malformed", "not_asked"}
)
"""Faults of a judge's endpoint that another time may mend; those of what judges say stay."""


def judgement_json(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as JSON values."""
    return record_json(
        judgement.template,
        judgement.grade,
        judgement.opinions,
        aggregate=judgement.aggregate,
        quorum=judgement.quorum,
        level=judgement.level,
    )


def record_json(
    template: str,
    grade: Grade | None,
    opinions: Sequence[Opinion],
    *,
    aggregate: Aggregate,
    quorum: int,
    level: Level = "nominal",
) -> dict[str, Any]:
    """Return what a panel came to as JSON values; without a grade where it came to none."""
    return {
        "template": template,
        "grade": None if grade is None else grade.label,
        "score": None if grade is None else grade.score,
        "metrics": {} if grade is None else dict(grade.metrics),
        "aggregate": aggregate,
        "quorum": quorum,
        "level": level,
        "opinions": [_opinion_json(opinion) for opinion in opinions],
    }


def _opinion_json(opinion: Opinion) -> dict[str, Any]:
    grade = opinion.grade
    return {
        "judge": opinion.judge,
        "grade": None if grade is None else grade.label,
        "score": None if grade is None else grade.score,
        "metrics": {} if grade is None else dict(grade.metrics),
        "repeats": [None if one is None else [one.label, one.score] for one in opinion.repeats],
        "questions": [list(pair) for pair in opinion.questions],
        "reasked": opinion.reasked,
        "fault": opinion.fault,
        "reply": opinion.reply[:REPLY_CHARACTERS_MAX],
    }
