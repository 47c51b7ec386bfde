"""`outcome_of`: turns a scorer's result into an outcome, in the one place that decides verdicts.

A scorer may return a mapping, a `Score`, a bool or a number. NaN is not a number here: a scorer
that returns it has failed, and its sample is unscored. Depends on `nel.types`, and on
`nel.judges.types` for verdicts left to a judge.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Final, TypeAlias

from nel.core.reward_keys import REWARD_KEYS, reward_key
from nel.core.scaling import mean_of
from nel.errors import JudgeError, ScorerError
from nel.judges.types import Case
from nel.types import FailureKind, ModelFailure, Outcome, Score, Scored, Unscored

_GRADES: Final = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_NOTES: Final = ("parsed", "in_asked_form", "ran_on")
"""Claims of a scorer about how an answer was read: details of the sample, never a metric."""
_ROUNDING: Final = 1e-9
"""By which a share that was computed may miss 0 or 1."""
_DEPTH_MAX: Final = 100
_VALUES_MAX: Final = 1_000_000
"""Of lists in lists, and of values in all details of one result together."""
_COPIED_AS_IT_IS: Final = frozenset({str, bool, int, type(None)})
"""Types of most details: values that are their own copies."""
_REFUSAL = re.compile(
    r"^\W*(?:i['’]?m (?:sorry|unable|not able)|i am (?:sorry|unable)|i"
    r" (?:cannot|can['’]?t|won['’]?t)|sorry[,.])",
    re.IGNORECASE,
)
_NO_NUMBERS: Final = frozenset({str, bool, type(None)})
"""Types of most values that are details: texts, nothing, and the true or false of `_NOTES`."""
_Parts: TypeAlias = tuple[dict[str, float], dict[str, object], str | None]
"""The numbers, the details and the extracted answer of a result."""


class JudgeWanted(JudgeError):
    """A scorer delegates its verdict to a judge; outside a run there is none."""

    def __init__(self, result: Mapping[str, object]) -> None:
        """Keep what the scorer returned."""
        super().__init__("the scorer asks for a judge, and there is none here", kind="no_judge")
        self.result = result

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        """Return how it is pickled; an exception is otherwise built from its message alone."""
        return JudgeWanted, (self.result,)

    def case(self) -> Case:
        """Return what is to be judged.

        Raises:
            ScorerError: The scorer gave something that is not a case, or a number of its own that
                makes the judgement worthless.
        """
        self.own_values()
        case = self.result.get("judge_case", Case())
        if not isinstance(case, Case):
            raise ScorerError(
                f"judge_case must be a nel.Case, not a {type(case).__name__}; use nel.needs_judge"
            )
        return case

    def own_values(self) -> _Parts:
        """Return the scorer's own values: its numbers, its details and the extracted answer.

        Raises:
            ScorerError: A number is NaN or infinite.
        """
        values = {
            key: value
            for key, value in self.result.items()
            if key not in ("correct", "needs_judge", "judge_case")
        }
        metrics, details, answer = _from_plain(values)
        return metrics, _plain_details(details), answer


def outcome_of(result: object, response: str) -> Scored | ModelFailure:
    """Return the outcome a scorer's result means.

    The reward is ``correct``, else ``reward``, else ``score``, else the first number. A result that
    says it found no answer (``parsed`` false, or ``extracted`` None) and no credit is a
    `ModelFailure`: ``refusal`` where the response opens with one, else ``no_answer``.

    Raises:
        ScorerError: The result is not a score, holds no number, a number is NaN or infinite,
            ``correct`` is not a share from 0 to 1, the first of ``correct``, ``reward`` and
            ``score`` is not a number, or a detail holds itself, is nested too deeply or has too
            many values.
        JudgeWanted: The scorer asks for a judge.
    """
    if result is None or (isinstance(result, Score) and result.is_unscored):
        explanation = getattr(result, "explanation", None)
        raise ScorerError(f"the scorer gave no score{f': {explanation}' if explanation else ''}")
    if isinstance(result, Score):
        metrics, details, answer = _from_score(result, response)
    else:
        metrics, details, answer = _from_plain(result)
    headline = _headline(metrics, {} if isinstance(result, Score) else details)
    details = _plain_details(details)
    if not metrics:
        raise ScorerError(
            f"the scorer returned no number: {_display(result)}; return a dict like {{'correct':"
            " True}"
        )
    reward = metrics[headline or reward_key(metrics)]
    if reward <= 0 and _found_nothing(result):
        kind: FailureKind = "refusal" if _REFUSAL.match(response) else "no_answer"
        return ModelFailure(kind=kind, metrics=metrics, answer=answer, details=details)
    return Scored(reward=reward, metrics=metrics, answer=answer, details=details)


def _headline(metrics: dict[str, float], details: Mapping[str, object]) -> str | None:
    """Return the name of the number that is the verdict; None where the first one is.

    A share that misses 0 or 1 by the rounding of its computation is set to it.
    What is ``correct`` is shown as the accuracy, and its bounds count each missing score as 0 or 1.

    Raises:
        ScorerError: Another number would replace the verdict, or the verdict is not a share.
    """
    for key in REWARD_KEYS:
        if key in metrics or key in details:
            break
    else:
        return None
    if key not in metrics:
        raise ScorerError(
            f'the scorer returned {_display(details[key])} for "{key}"; return a number or a bool'
        )
    if key != "correct":
        return key
    if not -_ROUNDING <= metrics[key] <= 1 + _ROUNDING:
        raise ScorerError(
            f'the scorer returned {metrics[key]:g} for "correct", which is from 0 to 1; '
            'return points of another scale as "score"'
        )
    metrics[key] = min(1.0, max(0.0, metrics[key]))
    return key


def _from_plain(result: object) -> _Parts:
    if not isinstance(result, (dict, Mapping)):  # most are a dict, which is found ten times faster
        if inspect.isawaitable(result):
            raise ScorerError("the scorer returned an awaitable but is not declared with async def")
        number = _number("score", result)
        if number is None:
            raise ScorerError(
                f"the scorer returned {_display(result)}; return a dict like {{'correct': True}}"
            )
        return {"correct" if isinstance(result, bool) else "score": number}, {}, None
    if result.get("needs_judge"):
        raise JudgeWanted(result)
    metrics: dict[str, float] = {}
    details: dict[str, object] = {}
    for key, value in result.items():
        name, kind = str(key), type(value)
        if kind is bool and name not in _NOTES:
            metrics[name] = float(value)
        elif kind in _NO_NUMBERS or (number := _number(name, value)) is None:
            details[name] = value
        else:
            metrics[name] = number
    answer = details.pop("extracted", None)
    if answer is None and "extracted" in metrics:
        answer = str(result["extracted"])
        del metrics["extracted"]
    return metrics, details, None if answer is None else str.__str__(str(answer))


def _from_score(score: Score, response: str) -> _Parts:
    value = score.value
    if isinstance(value, str):
        if value not in _GRADES:
            raise ScorerError(
                f"the scorer's value {_display(value)} is not a grade; use C, I, P, N or a number"
            )
        value = _GRADES[value]
        metrics: dict[str, float] = {"correct": value}
    elif isinstance(value, Mapping):
        graded = {
            key: _GRADES.get(item, item) if isinstance(item, str) else item
            for key, item in value.items()
        }
        metrics, _, _ = _from_plain(graded)
    else:
        metrics, _, _ = _from_plain(value)
    details = dict(score.metadata or {})
    if score.explanation not in (None, response):
        details["explanation"] = score.explanation
    return metrics, details, None if score.answer is None else str.__str__(score.answer)


def _number(key: str, value: object) -> float | None:
    """Return a number, numpy's scalars, Decimal and Fraction included, as a float; else None.

    Raises:
        ScorerError: It is NaN or infinite, or so large that no float holds it.
    """
    kind = type(value)
    if kind is bool:
        return float(value)  # type: ignore[arg-type]
    if kind is str or value is None:
        return None
    if kind.__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if not isinstance(value, (Real, Decimal)):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError) as error:
        raise ScorerError(
            f'the scorer returned a number for "{key}" that no float holds; return a smaller one'
        ) from error
    if not math.isfinite(number):
        raise ScorerError(
            f'the scorer returned {number} for "{key}"; return a finite number or leave the key out'
        )
    return number


def _plain_details(details: Mapping[str, object]) -> dict[str, object]:
    """Return the details of a result in a form that JSON has, as copies.

    Raises:
        ScorerError: They are nested too deeply, as lists that hold themselves are, or have too many
            values.
    """
    if len(details) <= _VALUES_MAX and _COPIED_AS_IT_IS.issuperset(map(type, details.values())):
        return {str(key): value for key, value in details.items()}
    return _Copy().mapping(details, 0)


class _Copy:
    """Copies a result's details: arrays and sets as lists, what JSON has no form for by repr."""

    def __init__(self) -> None:
        self._left = _VALUES_MAX

    def mapping(self, value: Mapping[str, object], depth: int) -> dict[str, object]:
        return {str(key): self.value(item, depth + 1) for key, item in value.items()}

    def value(self, value: object, depth: int) -> object:
        self._left -= 1
        if self._left < 0:
            raise ScorerError(
                f"the scorer returned more than {_VALUES_MAX:,} values; return what a reader needs"
            )
        if depth > _DEPTH_MAX:
            raise ScorerError(
                "the scorer returned a value that holds itself, or is nested deeper than"
                f" {_DEPTH_MAX} levels"
            )
        if value is None or isinstance(value, bool):
            return value
        # A scorer's own class of text or number cannot be sent to the run's process.
        if isinstance(value, (str, int)):
            return str.__str__(value) if isinstance(value, str) else int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value) if math.isfinite(value) else repr(value)
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            return self.value(value.tolist(), depth)
        if isinstance(value, (list, tuple)):
            return [self.value(item, depth + 1) for item in value]
        if isinstance(value, (set, frozenset)):
            return sorted((self.value(item, depth + 1) for item in value), key=repr)
        return repr(value)


def _found_nothing(result: object) -> bool:
    if isinstance(result, Mapping):
        return result.get("parsed") is False or (
            "extracted" in result and result["extracted"] is None
        )
    return isinstance(result, Score) and (
        result.value == "N" or (result.metadata or {}).get("parsed") is False
    )


def _display(value: object) -> str:
    """Return the repr of a value, cut to what fits on a line of a terminal."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that holds itself, or is nested too deeply"
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 - one line of a terminal


def mean_of_turns(outcomes: Sequence[Outcome]) -> Outcome:
    """Return one outcome for several turns: the mean of each number, and each turn's own.

    A turn without a score leaves the whole without one; a turn in which the model gave no answer
    counts 0.
    """
    if len(outcomes) == 1:
        return outcomes[0]
    turns = [outcome for outcome in outcomes if not isinstance(outcome, Unscored)]
    if len(turns) < len(outcomes):
        return next(outcome for outcome in outcomes if isinstance(outcome, Unscored))
    scored = [turn for turn in turns if isinstance(turn, Scored)]
    if not scored:
        return turns[0]
    metrics: dict[str, float] = {}
    for key in dict.fromkeys(key for turn in turns for key in turn.metrics):
        metrics[key] = mean_of([turn.metrics.get(key, 0.0) for turn in turns])
        metrics |= {
            f"{key}_turn_{number}": turn.metrics.get(key, 0.0)
            for number, turn in enumerate(turns, start=1)
        }
    reward = mean_of([turn.reward if isinstance(turn, Scored) else 0.0 for turn in turns])
    details = {
        f"turn_{number}": {"answer": turn.answer, **turn.details}
        for number, turn in enumerate(turns, start=1)
    }
    return Scored(reward=reward, metrics=metrics, answer=turns[-1].answer, details=details)
