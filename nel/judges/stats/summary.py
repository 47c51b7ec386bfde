"""Summarizes the judging of a benchmark from its stored judgements, in bounded memory.

`nel.judges.stats.panel_agreement` computes the agreement between judges, and between repeats of one
judge, from these counts. A case without a verdict has no grade; it is counted by its kind of fault
and is not part of a mean. Depends on `nel.judges.record` for the format of a judgement.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nel.judges.record import JudgementJson, OpinionJson, judgements_in
from nel.judges.stats.grade_patterns import Grade, GradePatterns
from nel.judges.stats.panel_agreement import agreement_json, repeats_json
from nel.judges.stats.position_bias import Position, PositionBiasCounts
from nel.judges.types import Level

LABELS_MAX: Final = 40
"""Distinct grades, kinds of fault and templates that are counted by name."""
OTHER: Final = "(other)"
_POSITIONS: Final[dict[str | None, Position]] = {"first": "first", "second": "second", "tie": "tie"}
_DOWN: Final = "outage"
"""Fault of an opinion that was not asked for, since the judge's endpoint was down."""
_LEVELS: Final[dict[str, Level]] = {"ordinal": "ordinal", "interval": "interval"}


@dataclass(slots=True)
class _Judge:
    cases: int = 0
    verdicts: int = 0
    reasked: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)
    total: float = 0.0

    def add(self, opinion: OpinionJson) -> None:
        self.cases += 1
        self.reasked += opinion["reasked"]
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
    """The grades of cases that one judge graded several times; their order does not matter."""

    n_missing: int = 0
    """Cases with a missing grade in at least one repeat."""
    patterns: GradePatterns = field(default_factory=GradePatterns)


@dataclass(slots=True)
class _Template:
    name: str
    level: Level
    cases: int = 0
    n_missing: int = 0
    members: set[str] = field(default_factory=set)
    """Names of the judges that were asked."""
    panel: GradePatterns = field(default_factory=GradePatterns)
    repeats: dict[str, _Repeats] = field(default_factory=dict)
    order: dict[str, PositionBiasCounts] = field(default_factory=dict)

    def repeats_json(self) -> Iterator[dict[str, Any]]:
        for judge, repeats in self.repeats.items():
            yield {
                "template": self.name,
                "judge": judge,
                "n_missing": repeats.n_missing,
                **repeats_json(self.level, repeats.patterns),
            }


class JudgingCounts:
    """Counts the judgements of one benchmark, one outcome at a time."""

    def __init__(self, judges: Iterable[str] = ()) -> None:
        """Start empty.

        Args:
            judges: Names of the panel members in order; others are appended as they appear.
        """
        self._judges = {name: _Judge() for name in judges}
        self._templates: dict[tuple[str, str], _Template] = {}
        self._n_judged = 0
        self._n_cases = 0
        self._n_cases_without_grade = 0
        self._without_grade: Counter[str] = Counter()
        self.details: dict[str, str] = {}
        """Kind of fault to the message of its first occurrence."""

    def add(
        self,
        sample: int,
        records: object,
        *,
        unscored_kind: str | None = None,
        unscored_detail: str = "",
    ) -> None:
        """Count the judgements of one outcome; those of one sample must be added consecutively.

        Args:
            sample: The number of the sample, or of the question where several samples are about
                one; its repeats and cases are resampled together.
            records: A list of `nel.judges.record.JudgementJson`; anything else is ignored.
            unscored_kind: The kind of fault where the judges' fault left the outcome unscored.
            unscored_detail: Its message.
        """
        judgements = judgements_in(records)
        if not judgements and unscored_kind is None:
            return
        self._n_judged += 1
        if unscored_kind is not None:
            self._without_grade[unscored_kind] += 1
            self.details.setdefault(unscored_kind, unscored_detail)
        for record in judgements:
            self._add_case(sample, record)

    @property
    def awaits_judge(self) -> bool:
        """Return whether a judge was down and left cases for a resume, also where others decided."""
        return any(judge.faults[_DOWN] for judge in self._judges.values())

    def as_json(self) -> dict[str, Any] | None:
        """Return all counts and measures, None where there is no judgement."""
        if not self._n_judged:
            return None
        templates = [self._templates[key] for key in sorted(self._templates)]
        cases: Counter[str] = Counter()
        for template in templates:
            cases[template.name] += template.cases
        judges = [{"name": name, **judge.as_json()} for name, judge in self._judges.items()]
        panels = [self._agreement(template) for template in templates if len(template.members) > 1]
        repeats = [row for template in templates for row in template.repeats_json()]
        swaps = [
            {"template": template.name, "judge": judge, **order.as_json()}
            for template in templates
            for judge, order in template.order.items()
        ]
        return {
            "n_judged": self._n_judged,
            "n_without_grade": {
                "n": self._without_grade.total(),
                "kinds": dict(self._without_grade),
            },
            "n_cases": self._n_cases,
            "n_cases_without_grade": self._n_cases_without_grade,
            "templates": dict(cases),
            "judges": judges,
            "agreement": panels,
            "self_consistency": repeats,
            "position_swap": swaps,
        }

    def _agreement(self, template: _Template) -> dict[str, Any]:
        # Patterns have a grade for each judge of the run, in order: pick the asked ones.
        positions = {
            index: name for index, name in enumerate(self._judges) if name in template.members
        }
        agreement = agreement_json(
            positions, template.level, template.panel, n_missing=template.n_missing
        )
        return {"template": template.name, **agreement}

    def _add_case(self, sample: int, record: JudgementJson) -> None:
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
                _add_order(template, sample, name, opinion)
        template.n_missing += any(opinion.get("grade") is None for opinion in opinions.values())
        template.panel.add(
            sample, [_grade(opinions.get(name), template.level) for name in self._judges]
        )

    def _template(self, record: JudgementJson) -> _Template:
        name = str(record.get("template") or "custom")
        level = _LEVELS.get(str(record.get("level")), "nominal")
        if (name, level) not in self._templates and len(self._templates) >= LABELS_MAX:
            name = OTHER
        return self._templates.setdefault((name, level), _Template(name, level))


def _count(counts: Counter[str], name: str) -> None:
    """Count an external name; beyond `LABELS_MAX` names, further ones are counted as `OTHER`."""
    counts[name if name in counts or len(counts) < LABELS_MAX else OTHER] += 1


def _add_repeats(template: _Template, sample: int, judge: str, opinion: OpinionJson) -> None:
    repeats = opinion.get("repeats") or ()
    if len(repeats) < 2:  # noqa: PLR2004 - a single grade cannot disagree with itself
        return
    grades = [
        _value(repeat[0], repeat[1], template.level) for repeat in repeats if repeat is not None
    ]
    # Sorted, so that equal grades in another order are one pattern.
    grades.sort(key=lambda grade: (isinstance(grade, str), grade))
    repeats_of_judge = template.repeats.setdefault(judge, _Repeats())
    repeats_of_judge.n_missing += len(grades) < len(repeats)
    repeats_of_judge.patterns.add(sample, grades)


def _add_order(template: _Template, sample: int, judge: str, opinion: OpinionJson) -> None:
    winners = _winning_positions(opinion.get("questions") or ())
    if winners is not None:
        template.order.setdefault(judge, PositionBiasCounts()).add(*winners, question=sample)


def _grade(opinion: OpinionJson | None, level: Level) -> Grade | None:
    if opinion is None:
        return None
    label, score = opinion.get("grade"), opinion.get("score")
    return None if label is None or score is None else _value(label, score, level)


def _value(label: str | float, score: str | float, level: Level) -> Grade:
    return str(label) if level == "nominal" else float(score)


def _winning_positions(questions: Sequence[Sequence[str]]) -> tuple[Position, Position] | None:
    """Return the position that won in each order; None if a pair was not asked in both."""
    winners = {label: _POSITIONS.get(grade) for label, grade in questions}
    first_order, second_order = winners.get("response_first"), winners.get("baseline_first")
    if first_order is None or second_order is None:
        return None
    return first_order, second_order
