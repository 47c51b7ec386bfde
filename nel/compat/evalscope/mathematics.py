"""EvalScope's readers and comparisons of mathematics, on nel's own, which compare units and kinds
too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from nel.reading.numbers import last_number
from nel.reading.numerals import parse_number
from nel.scoring.mathematics.answer import final_expression
from nel.scoring.mathematics.comparison import expressions_equal

__all__ = [
    "InvalidMathReference",
    "MathEvaluationError",
    "MathResult",
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
    reference_valid: bool = True
    reason: str = ""


def extract_answer(pred_str: str, use_last_number: bool = True) -> str:
    """Return the expression that a reply gives as its answer, else its last number, else nothing.

    >>> extract_answer("so \\\\boxed{12}"), extract_answer("it is 7 apples"), extract_answer("none")
    ('12', '7', '')
    """
    return final_expression(pred_str) or (last_number(pred_str) if use_last_number else None) or ""


def compare_answers(
    prediction: str,
    reference: str,
    *,
    prediction_mode: str = "fragment",
    integer_only: bool = False,
    **options: object,
) -> MathResult:
    """Return whether two expressions mean the same.

    Args:
        prediction: An expression, or with the mode ``output`` a whole reply.
        reference: The right expression.
        prediction_mode: ``fragment`` or ``output``.
        integer_only: Both must be written as whole numbers, as the answers of AIME are.
        options: Tolerances and the like, which nel does not have.

    Raises:
        MathEvaluationError: An option is given that would change the verdict, or the reference is
            not the whole number that it must be.
    """
    unknown = [name for name, value in options.items() if value and name != "validate_reference"]
    if unknown:
        raise MathEvaluationError(f"nel compares expressions without {', '.join(sorted(unknown))}")
    if integer_only and not _is_integer(reference):
        raise MathEvaluationError(f"the reference is not a whole number: {reference!r}")
    answer = extract_answer(prediction) if prediction_mode == "output" else _bare(prediction)
    if not answer.strip():
        return MathResult(reason="prediction_not_parsed")
    if integer_only and not _is_integer(answer):
        return MathResult(
            extracted=answer, prediction_valid=True, reason="integer_literal_required"
        )
    same = expressions_equal(_bare(reference), answer)
    return MathResult(
        matched=same,
        extracted=answer,
        prediction_valid=True,
        reason="matched" if same else "differs",
    )


def math_equal(prediction: object, reference: object, *_: object, **__: object) -> bool:
    """Return whether two expressions mean the same."""
    return compare_answers(str(prediction or ""), str(reference or "")).matched


def parse_digits(num: object, **_: object) -> float | None:
    """Return a text's number; None where it is none."""
    value = parse_number(str(num))
    return None if value is None else float(value)


def _is_integer(text: str) -> bool:
    value = parse_number(_bare(text))
    return value is not None and value == int(value)


def _bare(text: str) -> str:
    text = _DELIMITERS.sub("", text).strip()
    return text if "\\boxed" not in text else final_expression(text) or text
