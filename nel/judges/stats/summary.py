"""What judges did in a benchmark, counted from the records kept with its outcomes. Pure; memory is that of counts.

`nel.judges.stats.panel_agreement` computes from those counts how far judges agree with each other and with themselves.
A case without a verdict has no grade; it is counted by the kind of its fault and enters no mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Final

from nel.judges.stats.alpha import Scale
from nel.judges.stats.grade_patterns import Grade, GradePatterns
from nel.judges.stats.panel_agreement import agreement_json, repeats_json
from nel.judges.stats.position_bias import Seat, SeatOrder

LABELS_MAX: Final = 40
"""So many different grades, kinds of fault and templates are counted by name."""
OTHER: Final = "(other)"
_SEATS: Final[dict[str, Seat]] = {"first": "first", "second": "second", "tie": "tie"}
_LEVELS: Final[dict[str, Scale]] = {"ordinal": "ordinal", "interval": "interval"}


@dataclass(slots=True)
class _Judge:
    """One member of the panel, over all templates."""

    cases: int = 0
    verdicts: int = 0
    reasked: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)
    total: float = 0.0

    def add(self, opinion: Mapping[str, Any]) -> None:
        self.cases += 1
        self.reasked += int(opinion.get("reasked") or 0)
        label, score = opinion.get("grade"), opinion.get("score")
        if label is None or score is None:
            _count(self.faults, str(opinion.get("fault") or "no_verdict"))
            return
        self.verdicts += 1
        self.total += score
        _count(self.grades, str(label))

    def as_json(self) -> dict[str, Any]:
        mean = self.total / self.verdicts if self.verdicts else None
        return {
            "cases": self.cases,
            "verdicts": self.verdicts,
            "reasked": self.reasked,
            "faults": dict(self.faults),
            "mean_score": mean if mean is not None and math.isfinite(mean) else None,
            "grades": dict(self.grades),
        }


@dataclass(slots=True)
class _Repeats:
    """The grades of cases that were put to one judge several times; their order says nothing."""

    n_missing: int = 0
    """Cases in which it gave no grade at least once."""
    patterns: GradePatterns = field(default_factory=GradePatterns)


@dataclass(slots=True)
class _Template:
    """The cases that were judged in one way."""

    name: str
    level: Scale
    cases: int = 0
    n_missing: int = 0
    members: set[str] = field(default_factory=set)
    """Who was asked."""
    panel: GradePatterns = field(default_factory=GradePatterns)
    repeats: dict[str, _Repeats] = field(default_factory=dict)
    order: dict[str, SeatOrder] = field(default_factory=dict)


class JudgingCounts:
    """Adds up the judgements of one benchmark, one outcome at a time."""

    def __init__(self, judges: Iterable[str] = ()) -> None:
        """Start with nothing judged.

        Args:
            judges: The members of the panel by name, in their order; others join as they appear.
        """
        self._judges = {name: _Judge() for name in judges}
        self._templates: dict[tuple[str, str], _Template] = {}
        self._n_judged = 0
        self._n_cases = 0
        self._n_cases_without_grade = 0
        self._without_grade: Counter[str] = Counter()
        self.details: dict[str, str] = {}
        """By kind of fault what the first one said."""

    def add(self, sample: int, records: Any, *, unscored_kind: str | None = None, unscored_detail: str = "") -> None:
        """Count what was judged of one outcome; those of one sample must come one after the other.

        Args:
            sample: The number of the sample; its repeats and cases are drawn again together.
            records: As `nel.judges.record` makes them; what has another form is passed over.
            unscored_kind: The kind of fault where the judges' fault left the outcome unscored.
            unscored_detail: What it said.
        """
        found = judgements_in(records)
        if not found and unscored_kind is None:
            return
        self._n_judged += 1
        if unscored_kind is not None:
            self._without_grade[unscored_kind] += 1
            self.details.setdefault(unscored_kind, unscored_detail)
        for record in found:
            self._add_case(sample, record)

    def as_json(self) -> dict[str, Any] | None:
        """Return all counts and measures, None where nothing was judged."""
        if not self._n_judged:
            return None
        templates = [self._templates[key] for key in sorted(self._templates)]
        cases: Counter[str] = Counter()
        for template in templates:
            cases[template.name] += template.cases
        return {
            "n_judged": self._n_judged,
            "n_without_grade": {"n": self._without_grade.total(), "kinds": dict(self._without_grade)},
            "n_cases": self._n_cases,
            "n_cases_without_grade": self._n_cases_without_grade,
            "templates": dict(cases),
            "judges": [{"name": name, **judge.as_json()} for name, judge in self._judges.items()],
            "agreement": [self._agreement(template) for template in templates if len(template.members) > 1],
            "self_consistency": [
                {
                    "template": template.name,
                    "judge": judge,
                    "n_missing": repeats.n_missing,
                    **repeats_json(template.level, repeats.patterns),
                }
                for template in templates
                for judge, repeats in template.repeats.items()
            ],
            "position_swap": [
                {"template": template.name, "judge": judge, **order.as_json()}
                for template in templates
                for judge, order in template.order.items()
            ],
        }

    def _agreement(self, template: _Template) -> dict[str, Any]:
        places = {place: name for place, name in enumerate(self._judges) if name in template.members}
        measured = agreement_json(places, template.level, template.panel, n_missing=template.n_missing)
        return {"template": template.name, **measured}

    def _add_case(self, sample: int, record: Mapping[str, Any]) -> None:
        self._n_cases += 1
        self._n_cases_without_grade += record.get("grade") is None
        template = self._template(record)
        template.cases += 1
        opinions = {str(opinion.get("judge")): opinion for opinion in record["opinions"]}
        for name, opinion in opinions.items():
            if name in self._judges or len(self._judges) < LABELS_MAX:
                self._judges.setdefault(name, _Judge()).add(opinion)
                template.members.add(name)
                _add_repeats(template, sample, name, opinion)
                _add_order(template, name, opinion)
        template.n_missing += any(opinion.get("grade") is None for opinion in opinions.values())
        template.panel.add(sample, [_grade(opinions.get(name), template.level) for name in self._judges])

    def _template(self, record: Mapping[str, Any]) -> _Template:
        name, level = str(record.get("template") or "custom"), _LEVELS.get(str(record.get("level")), "nominal")
        if (name, level) not in self._templates and len(self._templates) >= LABELS_MAX:
            name = OTHER
        return self._templates.setdefault((name, level), _Template(name, level))


def judgements_in(records: Any) -> list[Mapping[str, Any]]:
    """Return the judgements among what stands where judgements are kept; none where it is something else."""
    return [record for record in records if _is_record(record)] if isinstance(records, list) else []


def _count(counts: Counter[str], name: str) -> None:
    """Count a name that comes from outside; one too many is counted as `OTHER`."""
    counts[name if name in counts or len(counts) < LABELS_MAX else OTHER] += 1


def _add_repeats(template: _Template, sample: int, judge: str, opinion: Mapping[str, Any]) -> None:
    repeats = opinion.get("repeats") or ()
    if len(repeats) > 1:
        known = [_value(one[0], one[1], template.level) for one in repeats if one is not None]
        held = template.repeats.setdefault(judge, _Repeats())
        held.n_missing += len(known) < len(repeats)
        held.patterns.add(sample, sorted(known, key=lambda grade: (isinstance(grade, str), grade)))


def _add_order(template: _Template, judge: str, opinion: Mapping[str, Any]) -> None:
    seats = _seats(opinion.get("questions") or ())
    if seats is not None:
        template.order.setdefault(judge, SeatOrder()).add(*seats)


def _grade(opinion: Mapping[str, Any] | None, level: Scale) -> Grade | None:
    if opinion is None or opinion.get("grade") is None or opinion.get("score") is None:
        return None
    return _value(opinion["grade"], opinion["score"], level)


def _value(label: Any, score: Any, level: Scale) -> Grade:
    return str(label) if level == "nominal" else float(score)


def _seats(questions: Sequence[Sequence[Any]]) -> tuple[Seat, Seat] | None:
    """Return which seat won in either order, None where the questions are not about a pair in both."""
    won = {label: _SEATS.get(seat) for label, seat in questions}
    before, after = won.get("response_first"), won.get("baseline_first")
    return None if before is None or after is None else (before, after)


def _is_record(record: Any) -> bool:
    """Return whether this is a judgement; a scorer may keep something else under the same name."""
    opinions = record.get("opinions") if isinstance(record, Mapping) else None
    return (
        isinstance(opinions, list)
        and isinstance(record.get("template"), str)
        and isinstance(record.get("grade"), (str, NoneType))
        and all(_is_opinion(opinion) for opinion in opinions)
    )


def _is_opinion(opinion: Any) -> bool:
    if not isinstance(opinion, Mapping):
        return False
    repeats, questions = opinion.get("repeats"), opinion.get("questions")
    return (
        isinstance(opinion.get("judge"), str)
        and isinstance(opinion.get("reasked"), int)
        and ((opinion.get("grade") is None and opinion.get("score") is None) or _is_grade(opinion, "grade", "score"))
        and isinstance(repeats, list)
        and all(one is None or _is_grade(one, 0, 1) for one in repeats)
        and isinstance(questions, list)
        and all(_is_pair(one) and isinstance(one[0], str) and isinstance(one[1], (str, NoneType)) for one in questions)
    )


def _is_grade(value: Any, label: Any, score: Any) -> bool:
    is_held = (isinstance(value, Mapping) and {label, score} <= value.keys()) or _is_pair(value)
    return is_held and isinstance(value[label], str) and isinstance(value[score], (int, float))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2  # noqa: PLR2004 - a pair
