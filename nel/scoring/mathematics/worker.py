"""The worker of `nel.scoring.mathematics.process`: compares expressions, one JSON line in, one out.

Depends on math-verify. It limits its own memory, and its parent limits its time: sympy may compute
for hours on a short text such as ``9^{9^{9^9}}``, and a thread could not be stopped.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import sympy
from math_verify import LatexExtractionConfig, grader, parse, verify
from math_verify.parser import NormalizationConfig
from sympy import FiniteSet, Ge, Gt, Intersection, Interval, Le, Lt, Union

MEMORY_BYTES_MAX: Final = 2 << 30
TOLERANCE: Final = 5e-6
"""A decimal agrees with an exact value up to this relative difference: rounding to six digits."""
_EXACT_DIGITS: Final = 60
"""Exact values are equal when that many of their digits are."""
_DIFFERENT: Final = ("10^{-20}", "10^{-21}")
"""Told apart before the process reports that it is ready, since the first comparison is slow.

It builds parsers and takes twenty times as long as the next ones, which must not count against the
time limit of an answer."""

_MATHEMATICS: Final = (sympy.Basic, sympy.MatrixBase)
_ORDERED: Final = (Ge, Gt, Le, Lt, Interval)

Comparison: TypeAlias = Callable[..., bool]


def main() -> None:
    """Answer requests until standard input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    logging.disable(logging.CRITICAL)
    grader.sympy_numeric_eq = relative_comparison(grader.sympy_numeric_eq)
    out, sys.stdout = sys.stdout, sys.stderr
    if _reply(*_DIFFERENT) != {"equal": False, "gold": True}:
        sys.exit("this version of math-verify compares numbers by an absolute tolerance")
    print("{}", file=out, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_reply(request["gold"], request["answer"])), file=out, flush=True)


def _reply(gold_text: str, answer_text: str) -> dict[str, bool | str]:
    try:
        gold, answer = (_parse_math(text) for text in (gold_text, answer_text))
        equal = bool(gold and answer) and verify(
            gold, answer, allow_set_relation_comp=True, timeout_seconds=None
        )
    except Exception as error:  # noqa: BLE001 - any error of the parser is caused by the text it was given
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    return {"equal": bool(equal), "gold": bool(gold)}


def _parse_math(text: str) -> list[Any]:
    """Return what math-verify reads, and of a list of inequalities their union and intersection."""
    notation = NormalizationConfig(
        basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="all"
    )
    formula = LatexExtractionConfig(normalization_config=notation)
    expressions = [
        _with_imaginary_unit(expression)
        for expression in parse(f"${text.replace('$', ' ')}$", [formula], parsing_timeout=None)
    ]
    if (
        not expressions
        or not isinstance(expressions[0], FiniteSet)
        or len(expressions[0].free_symbols) != 1
    ):
        return expressions
    conditions = expressions[0].args
    if not all(isinstance(condition, Ge | Gt | Le | Lt) for condition in conditions):
        return expressions
    sets = [condition.as_set() for condition in conditions]
    return [*expressions, Union(*sets), Intersection(*sets)]


def _with_imaginary_unit(expression: Any) -> Any:
    """Return an expression with ``i`` as the imaginary unit, which math-verify takes for a variable.

    Beside an ``i`` with blanks around it, it takes no variable for real, and for another one than
    the real one of the same name. The index of a sum stays, since it is not free, and so does the
    ``i`` of an inequality or an interval, which have no complex numbers.
    """
    if not isinstance(expression, _MATHEMATICS) or expression.has(*_ORDERED):
        return expression
    variables = {variable.name: variable for variable in expression.free_symbols}
    if "i" not in variables:
        return expression
    values = {variable: sympy.Symbol(name, real=True) for name, variable in variables.items()}
    values[variables["i"]] = sympy.I
    if isinstance(expression, sympy.Eq):  # "z = 2 + i" is not false because z is real
        return sympy.Eq(*(side.subs(values) for side in expression.args), evaluate=False)
    return expression.subs(values)


def relative_comparison(absolute: Comparison) -> Comparison:
    """Return math-verify's numeric comparison with a tolerance relative to the size of the numbers.

    Its own rounds decimals to six places and takes what is smaller than 1e-15 for zero:
    ``10^{-20}`` was 0.

    Args:
        absolute: Its own comparison, which stays in use for matrices (by element) and for exact
            numbers.
    """

    def compare(gold: Any, answer: Any, *rounding: int) -> bool:
        if isinstance(gold, sympy.MatrixBase | sympy.MatrixExpr) or isinstance(
            answer, sympy.MatrixBase | sympy.MatrixExpr
        ):
            return absolute(gold, answer, *rounding)
        is_decimal = gold.has(sympy.Float) or answer.has(sympy.Float)
        if not is_decimal and (isinstance(gold, sympy.Number) or isinstance(answer, sympy.Number)):
            return absolute(gold, answer, *rounding)
        if gold.free_symbols or answer.free_symbols:
            return bool((gold - answer).evalf() == 0)
        if not _is_close(gold, answer, 15, TOLERANCE):
            return False
        return is_decimal or _is_close(gold, answer, _EXACT_DIGITS + 10, 10.0**-_EXACT_DIGITS)

    return compare


def _is_close(gold: Any, answer: Any, digits: int, tolerance: float) -> bool:
    """Return whether two sympy numbers, to some digits, differ by at most a share of the larger."""
    gold_value, answer_value = gold.evalf(digits), answer.evalf(digits)
    return bool(
        abs(gold_value - answer_value) <= tolerance * max(abs(gold_value), abs(answer_value))
    )


if __name__ == "__main__":
    main()
