"""Judgements as JSON values, as results.jsonl stores them beside the score.

Complete replies are in run.db; here each is truncated to what a reader looks at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypedDict, TypeGuard

from nel.judges.types import Aggregate, Grade, Judgement, Level, Opinion

KEY: Final = "judgements"
"""The key of the judgements in the details of an outcome, in the order in which they were asked."""
REPLY_CHARACTERS_MAX: Final = 2_000
_OF_JUDGEMENT: Final = frozenset({"template", "grade", "opinions"})
"""Keys by which a judgement is told from what a scorer stores under the same name."""
_OF_OPINION: Final = frozenset({"judge", "grade", "score", "repeats", "questions", "reasked"})

RepeatJson: TypeAlias = "list[str | float] | None"
"""Label and score of one repeat, None where it gave no grade."""


class GradeJson(TypedDict):
    """A grade; grade and score are null where there is none."""

    grade: str | None
    score: float | None
    metrics: dict[str, float]


class OpinionJson(GradeJson):
    """The opinion of one panel member; `nel.judges.types.Opinion` documents the fields."""

    judge: str
    repeats: list[RepeatJson]
    questions: list[list[str]]
    reasked: int
    fault: str | None
    reply: str


class JudgementJson(GradeJson):
    """One judgement of a panel; `nel.judges.types.Judgement` documents the fields."""

    template: str
    aggregate: Aggregate
    quorum: int
    level: Level
    opinions: list[OpinionJson]


def judgement_json(judgement: Judgement) -> JudgementJson:
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
) -> JudgementJson:
    """Return the result of a panel as JSON values; without a grade, grade and score are null."""
    return {
        "template": template,
        **_grade_json(grade),
        "aggregate": aggregate,
        "quorum": quorum,
        "level": level,
        "opinions": [_opinion_json(opinion) for opinion in opinions],
    }


def _grade_json(grade: Grade | None) -> GradeJson:
    if grade is None:
        return {"grade": None, "score": None, "metrics": {}}
    return {"grade": grade.label, "score": grade.score, "metrics": dict(grade.metrics)}


def _opinion_json(opinion: Opinion) -> OpinionJson:
    repeats: list[list[str | float] | None] = [
        None if repeat is None else [repeat.label, repeat.score] for repeat in opinion.repeats
    ]
    return {
        "judge": opinion.judge,
        **_grade_json(opinion.grade),
        "repeats": repeats,
        "questions": [list(pair) for pair in opinion.questions],
        "reasked": opinion.reasked,
        "fault": opinion.fault,
        "reply": opinion.reply[:REPLY_CHARACTERS_MAX],
    }


def is_judged(details: object) -> bool:
    """Return whether a judge decided, by the details of an outcome; it reads the whole answer."""
    return isinstance(details, Mapping) and bool(details.get(KEY))


def judgements_in(records: object) -> list[JudgementJson]:
    """Return the judgements in an outcome's details, where a scorer may store anything else."""
    if not isinstance(records, list):
        return []
    return [record for record in records if _is_record(record)]


def _is_record(record: object) -> TypeGuard[JudgementJson]:
    return (
        isinstance(record, Mapping)
        and record.keys() >= _OF_JUDGEMENT
        and isinstance(record["opinions"], list)
        and all(
            isinstance(opinion, Mapping) and opinion.keys() >= _OF_OPINION
            for opinion in record["opinions"]
        )
    )
