"""EvalScope's readers and comparisons of mathematics, on nel's own, which compare units and kinds
too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final

from nel.compat.evalscope.proceedings import note_fault
from nel.errors import ScorerError
from nel.reading.numbers import last_number
from nel.reading.numerals import parse_number
from nel.scoring.mathematics.answer import final_expression
from nel.scoring.mathematics.comparison import expressions_equal

__all__ = [
    "InvalidMathReference",
    "MathEvaluationError",
    "MathResult",
    "choice_answer_clean",
    "compare_answers",
    "extract_answer",
    "math_equal",
    "parse_digits",
]

_DELIMITERS: Final = re.compile(r"^\s*\$+|\$+\s*$")


class MathEvaluationError(ValueError):
    """An expression could not be compared."""


class InvalidMathReference(MathEvaluationError):
    """The right answer is none."""


@dataclass
class MathResult:
    """What a comparison came to."""

    matched: bool = False
    extracted: str = ""
    prediction_valid: bool = False
    reason: str = ""


def extract_answer(pred_str: str) -> str:
    """Return the expression that a reply gives as its answer, else its last number, else nothing.

    >>> extract_answer("so \\\\boxed{12}"), extract_answer("it is 7 apples"), extract_answer("none")
    ('12', '7', '')
    """
    return final_expression(pred_str) or last_number(pred_str) or ""


def compare_answers(
    prediction: str,
    reference: str,
    *,
    prediction_mode: str = "fragment",
    absolute_tolerance: Sequence[float] | None = None,
    relative_tolerance: float | None = None,
    multiple_answers: bool = False,
    integer_only: bool = False,
    numeric_reference: bool = False,
    **options: object,
) -> MathResult:
    """Return whether two expressions mean the same.

    Args:
        prediction: An expression, or with the mode ``output`` a whole reply.
        reference: The right expression.
        prediction_mode: ``fragment`` or ``output``.
        absolute_tolerance: Of numbers: one for all answers, or one for each.
        relative_tolerance: Of numbers: a share of the reference.
        multiple_answers: Both are lists, whose order does not count.
        integer_only: Both must be written as whole numbers, as the answers of AIME are.
        numeric_reference: The reference must be a number.
        options: What nel does not have.

    Raises:
        MathEvaluationError: An option is given that would change the verdict, or the reference is
            not the number that it must be.

    >>> compare_answers("3.141, 2", "2, 3.14", absolute_tolerance=[0.01], multiple_answers=True).matched
    True
    """
    _check_options(options)
    if integer_only and not _is_integer(reference):
        raise MathEvaluationError(f"the reference is not a whole number: {reference!r}")
    if numeric_reference and parse_number(_bare(reference)) is None:
        raise MathEvaluationError(f"the reference is not a number: {reference!r}")
    answer = extract_answer(prediction) if prediction_mode == "output" else _bare(prediction)
    if not answer.strip():
        return MathResult(reason="prediction_not_parsed")
    if integer_only and not _is_integer(answer):
        return MathResult(
            extracted=answer, prediction_valid=True, reason="integer_literal_required"
        )
    golds, answers = [_bare(reference)], [answer]
    if multiple_answers:
        golds, answers = _components(golds[0]), _components(answer)
    tolerances = _tolerances(absolute_tolerance or (0.0,), len(golds))
    is_equal = len(golds) == len(answers) and _pair(
        list(zip(golds, tolerances, strict=True)), answers, relative_tolerance or 0.0
    )
    return MathResult(
        matched=is_equal,
        extracted=answer,
        prediction_valid=True,
        reason="matched" if is_equal else "differs",
    )


def _check_options(options: Mapping[str, object]) -> None:
    """Refuse options of EvalScope that nel does not have, as a fault of the scorer."""
    unknown_options = [name for name, value in options.items() if value]
    if unknown_options:
        message = f"nel compares expressions without {', '.join(sorted(unknown_options))}"
        note_fault(ScorerError(message))
        raise MathEvaluationError(message)


def _tolerances(absolute: Sequence[float], n_golds: int) -> list[float]:
    """Return the tolerance of each gold answer, of which one may stand for all."""
    tolerances = [float(value) for value in absolute]
    if len(tolerances) == 1:
        tolerances *= n_golds
    if len(tolerances) != n_golds:
        raise MathEvaluationError(f"{len(tolerances)} tolerances for {n_golds} answers")
    return tolerances


def _pair(golds: Sequence[tuple[str, float]], answers: Sequence[str], relative: float) -> bool:
    """Return whether each gold answer has an answer of its own that is equal to it."""
    if not golds:
        return True
    # Every answer is tried for the first gold answer, since tolerances may let two of them fit it.
    gold, absolute = golds[0]
    return any(
        _are_close(gold, answer, absolute, relative)
        and _pair(golds[1:], [*answers[:index], *answers[index + 1 :]], relative)
        for index, answer in enumerate(answers)
    )


def _are_close(gold: str, answer: str, absolute: float, relative: float) -> bool:
    """Return whether two expressions are equal, or as numbers as near as is allowed."""
    number, answer_number = (parse_number(text.rpartition("=")[2]) for text in (gold, answer))
    # Fractions, so that 0.1 is a tenth and a value at the very end of the tolerance is within it.
    if (absolute or relative) and number is not None and answer_number is not None:
        tolerance = max(Fraction(str(absolute)), Fraction(str(relative)) * abs(number))
        if abs(number - answer_number) <= tolerance:
            return True
    return expressions_equal(gold, answer)


def _components(text: str) -> list[str]:
    """Return the answers of a list: what stands between commas outside of brackets.

    >>> _components("(1,2), [3,4], 5, \\\\pm 2")
    ['(1,2)', '[3,4]', '5', '2', '-2']
    """
    parts, depth = [""], 0
    for letter in text:
        # True counts 1: a bracket that opens adds one, and one that closes takes one away.
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    answers = []
    for part in parts:
        signs = ("", "-") if "\\pm" in part else ("",)
        for sign in signs:
            answer = part.replace("\\pm", sign, 1)
            answers.append(answer.replace("- ", "-").strip())
    return answers


def math_equal(prediction: object, reference: object, *_: object, **__: object) -> bool:
    """Return whether two expressions mean the same."""
    return compare_answers(str(prediction or ""), str(reference or "")).matched


def choice_answer_clean(pred: str) -> str:
    """Return the last of the letters A to E that stands alone; without one the text, trimmed.

    >>> choice_answer_clean("so (b)."), choice_answer_clean(" 12. ")
    ('B', '12')
    """
    text = pred.strip("\n").rstrip(".").rstrip("/").strip(" ").lstrip(":")
    letters = re.findall(r"\b[A-E]\b", text.upper())
    return letters[-1] if letters else text.strip().strip(".").rstrip("/")


def parse_digits(num: object, **_: object) -> float | None:
    """Return a text's number; None where it is none."""
    value = parse_number(str(num))
    return None if value is None else float(value)


def _is_integer(text: str) -> bool:
    """Return whether a text is written as a whole number, which a quotient or a power is not."""
    try:
        value = Decimal(_bare(text).replace(",", ""))
    except InvalidOperation:
        return False
    return value.is_finite() and value == value.to_integral_value()


def _bare(text: str) -> str:
    text = _DELIMITERS.sub("", text).strip()
    return text if "\\boxed" not in text else final_expression(text) or text
