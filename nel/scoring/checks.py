"""Checks that a benchmark in YAML lists: each looks at one thing; all together make the score.

The parser of the file builds `ResponseCheck`s (`nel.authoring.yaml_benchmark`); this module scores
by them. Numbers, JSON and a judge's verdicts are read by nel's own readers. A check that cannot be
made leaves the sample unscored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from nel.core.texts import list_in_text
from nel.core.timed_regex import compile_pattern, search
from nel.errors import DatasetError
from nel.reading.clauses import whole_places
from nel.reading.numbers import read_number
from nel.reading.numerals import parse_number
from nel.reading.own import own_answer
from nel.reading.response import Answer
from nel.reading.texts import read_text
from nel.scoring.delegation import ask_judge
from nel.scoring.golds import spellings
from nel.scoring.json_schema import validate_json_schema
from nel.scoring.words import searchable
from nel.types import Json, ScorerInput

Kind: TypeAlias = Literal[
    "contains", "not_contains", "regex", "equals", "numeric", "json_schema", "judge"
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_TAKE_LISTS: Final = ("contains", "not_contains", "equals")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseCheck:
    """One thing that is expected of a response."""

    kind: Kind
    name: str
    """Its metric; distinct among the checks of a row."""
    value: Json = None
    """A text, a number, a list of accepted ones, or a JSON Schema; unused where `field` is set."""
    field: str | None = None
    """The field of the row that holds the value."""
    ignore_case: bool = True
    """For texts and patterns."""
    tolerance: str = "0"
    """For numbers: the largest difference that counts as equal, as a decimal text."""
    threshold: float | None = None
    """For a judge: the score from 0 to 1 that a passing response must reach."""
    weight: str | None = None
    """Its share of the row's score, a decimal text; None in all checks of a row: all must pass."""


class CheckResult(NamedTuple):
    """What one check found."""

    passed: bool
    expected: Json
    got: Json
    """What was compared: the text, the number or the JSON that was read, or what the judge said."""


@dataclass(frozen=True, slots=True)
class ChecksScorer:
    """Scores a response by the checks of its row, or else by those that hold for all rows."""

    checks: tuple[ResponseCheck, ...]
    """Of rows that have none of their own."""
    of_rows: Mapping[str, tuple[ResponseCheck, ...]] = field(default_factory=dict)
    """By `nel.datasets.ids.content_id` of the row."""
    asks_judge: bool = False
    """Whether any check asks the run's judge; such a run is refused where there is none."""
    row_key: Any = None
    """From a row to its key in `of_rows`."""

    @property
    def in_process(self) -> bool:
        """Return whether no check has the author's own pattern, which may take long."""
        every = (*self.checks, *(check for checks in self.of_rows.values() for check in checks))
        return not any(check.kind in ("regex", "json_schema") for check in every)

    def takes_gold(self, sample: ScorerInput, **_: object) -> list[Json]:
        """Return what the checks of a row expect; raises DatasetError where one decides nothing."""
        row = _row_of(sample)
        return [_expected_value(check, row) for check in self._checks_of(row)]

    def _checks_of(self, row: Mapping[str, Json]) -> tuple[ResponseCheck, ...]:
        checks = self.of_rows.get(self.row_key(row), self.checks) if self.of_rows else self.checks
        if not checks:
            raise DatasetError(
                "the row has no checks, and the file has none for all rows; give it some"
            )
        return checks

    def __call__(self, sample: ScorerInput) -> dict[str, object]:
        """Return ``score``, each check's number by name, and ``checks``: what was expected and got.

        Raises:
            SampleError: A check could not be made; the sample is unscored.
        """
        row = _row_of(sample)
        checks = self._checks_of(row)
        response, details = own_answer(sample)
        findings = [_find(check, sample, response, row) for check in checks]
        passed = {
            check.name: finding.passed for check, finding in zip(checks, findings, strict=True)
        }
        return {
            "score": _score(checks, findings),
            **passed,
            "checks": _details(checks, findings),
            **details,
        }


def _score(checks: Sequence[ResponseCheck], findings: Sequence[CheckResult]) -> float:
    """Return 1 if all checks pass and else 0, or with weights the share of them that passes."""
    if all(check.weight is None for check in checks):
        return float(all(finding.passed for finding in findings))
    weights = [Fraction(check.weight or "1") for check in checks]
    won = sum(weight for weight, finding in zip(weights, findings, strict=True) if finding.passed)
    return float(won / sum(weights))


def _details(
    checks: Sequence[ResponseCheck], findings: Sequence[CheckResult]
) -> list[dict[str, object]]:
    return [
        {"check": check.name, "kind": check.kind, **finding._asdict()}
        for check, finding in zip(checks, findings, strict=True)
    ]


def _find(
    check: ResponseCheck, sample: ScorerInput, answer: Answer, row: Mapping[str, Json]
) -> CheckResult:
    value = _expected_value(check, row)
    response = sample.response or ""
    match check.kind:
        case "numeric":
            return _numeric(check, answer, value)
        case "json_schema":
            outcome = validate_json_schema(response, value)
            return CheckResult(outcome["valid"], value, outcome["error"] or outcome["extracted"])
        case "judge":
            return _ask_judge(check, sample, str(value))
    texts_sought = spellings(value)
    if check.kind == "equals" and answer.asked is not None:
        response = read_text(answer, declared_only=True).value or ""
    return CheckResult(_text_passes(check, response, texts_sought), value, response)


def _text_passes(check: ResponseCheck, response: str, texts_sought: Sequence[str]) -> bool:
    if check.kind == "regex":
        return any(
            search(sought, response, ignore_case=check.ignore_case) is not None
            for sought in texts_sought
        )
    text = searchable(response, ignore_case=check.ignore_case)
    texts = [searchable(sought, ignore_case=check.ignore_case) for sought in texts_sought]
    if check.kind == "equals":
        return text.strip() in [sought.strip() for sought in texts]
    if check.kind == "not_contains":
        return not any(sought in text for sought in texts)
    places = (next(whole_places(text, sought, compounds=True), None) for sought in texts)
    return any(place is not None for place in places)


def _numeric(check: ResponseCheck, response: Answer, value: Json) -> CheckResult:
    """Compare the number a response gives with the expected ones; one without a number fails."""
    answer = read_number(response).value
    number = None if answer is None else parse_number(answer)
    targets = _numbers(value)
    margin = Fraction(check.tolerance)
    passed = number is not None and any(
        accepted is not None and abs(number - accepted) <= margin for accepted in targets
    )
    return CheckResult(passed, value, answer)


def _ask_judge(check: ResponseCheck, sample: ScorerInput, criterion: str) -> CheckResult:
    """Ask the run's judge whether a response meets a criterion; one of a row is quoted as data."""
    from nel.judges.types import Case  # noqa: PLC0415 - only where a judge is asked

    values: dict[str, object] = {} if check.threshold is None else {"threshold": check.threshold}
    if check.field is not None:
        values["rubric"] = criterion
    case = Case(
        response=sample.response,
        template="llm_rubric",
        criteria="" if check.field is not None else criterion,
        values=values,
    )
    grade = ask_judge(sample, case).grade
    verdict = grade.label if not grade.explanation else f"{grade.label}: {grade.explanation}"
    return CheckResult(grade.score >= 1, criterion, verdict)


def _row_of(sample: ScorerInput) -> dict[str, Json]:
    return {key: value for key, value in sample.metadata.items() if not key.startswith("_")}


def _expected_value(check: ResponseCheck, row: Mapping[str, Json]) -> Json:
    """Return what a check expects of a row's response.

    Raises:
        DatasetError: The row does not have it, or it is empty, no number or no pattern.
    """
    value = check.value if check.field is None else _field_value(check, row)
    if check.kind == "json_schema":
        return value
    if check.kind == "numeric" and None in (_numbers(value) or [None]):
        raise DatasetError(f'the check "{check.name}" expects {value!r:.80}, which is not a number')
    texts = spellings(value)
    if not texts or not all(text.strip() for text in texts):
        raise DatasetError(
            f'the check "{check.name}" expects an empty text, which decides nothing; give it one'
        )
    if check.field and check.kind in _TAKE_LISTS and any(map(list_in_text, texts)):
        raise DatasetError(
            f'the check "{check.name}" expects a list that is a text, {texts[0][:60]}; name the'
            f" field in list_fields: [{check.field}]"
        )
    for pattern in texts if check.kind == "regex" else ():
        compile_pattern(pattern, ignore_case=check.ignore_case)
    return value


def _numbers(value: Json) -> list[Fraction | None]:
    return [parse_number(str(item)) for item in (value if isinstance(value, list) else [value])]


def _field_value(check: ResponseCheck, row: Mapping[str, Json]) -> Json:
    if row.get(check.field or "") is None:
        raise DatasetError(
            f'the check "{check.name}" needs the field "{check.field}", which the row does not have'
        )
    return row[check.field or ""]
