"""Several formulas that are one answer, and several that are none."""

from __future__ import annotations

import pytest

from nel.scoring.mathematics.answer import math_equal
from nel.scoring.reading.expressions import read_expression
from nel.types import ScorerInput


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("The solutions are x = 1 and x = -2.", "x = 1, x = -2"),
        ("The solutions are $x = 1$ and $x = -2$.", "x = 1, x = -2"),
        ("Therefore, the solutions are $x=1$ or $x=-2$.", "x=1, x=-2"),
        ("So the solutions are $x = 1$, $x = 2$, and $x = 3$.", "x = 1, x = 2, x = 3"),
        ("The roots are 1 and -2.", "1, -2"),
        ("**Answer:** $x = 1$ or $x = -2$", "x = 1, x = -2"),
        ("The answer is $1$ and $-2$.", "1, -2"),
        ("The final answer is $\\boxed{1}$ and $\\boxed{-2}$.", "1, -2"),
        ("The solutions are:\n\n- $x = 1$\n- $x = -2$", "x = 1, x = -2"),
        ("Hence $x = 1$ or $x = -2$.", "x = 1, x = -2"),
        ("So the solution is $x \\le 0$ or $x \\ge 3$.", "x \\le 0 \\text{ or } x \\ge 3"),
        ("The answer is $\\frac{7}{2}$ or $3.5$.", "\\frac{7}{2}"),
        ("The probability is $\\frac{1}{6}$, or about 16.7%.", "\\frac{1}{6}"),
        # guesses, parts and conditions are no list
        ("The answer could be $5$ or $7$.", None),
        ("The answer is $5$ or $7$.", None),
        ("My guess would be $x \\ge -9$ or $x > -9$.", None),
        ("The answer is $\\boxed{12}$ or $\\boxed{13}$.", None),
        ("So the answer is not $5$ but $7$.", "7"),
        ("We have $x+y=10$ and $x-y=4$, so the answer is $\\boxed{21}$.", "21"),
        ("The roots are $1$ and $-2$. So the answer is $-1$.", "-1"),
        ("Thus $x=2$ or $x=3$. But $x=2$ makes the denominator zero, so the only solution is $x=3$.", "x=3"),
        ("Thus $x=2$ or $x=3$. Since $x>2$, we get $x=3$.", None),
        ("In the first case there are 3 ways, in the second there are 4 ways", None),
    ],
)
def test_several_formulas_are_one_answer(response: str, value: str | None) -> None:
    """What is joined is given with a comma, a choice between bounds with "or"."""
    assert read_expression(response).value == value


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("Answer: no solution", "no solution"),
        ("Answer: There is no solution.", "There is no solution"),
        ("Therefore the equation has no solution.", "no solution"),
        ("The area is $25\\pi$ square units.", "25\\pi"),
        ("The angle is 45°.", "45"),
        ("The minimum value is $-4$, attained at $x=2$.", "-4"),
        ("There are $\\binom{5}{2} = 10$ ways.", "\\binom{5}{2} = 10"),
        ("A large one is 6 square feet. The answer is:\n\n33 + 8(4) = 65", "33 + 8(4) = 65"),
        ("I have no solution.", None),
        ("In case 2 there is no solution for $x$", None),
        ("$x = 5$. Next, we find", None),
    ],
)
def test_what_a_last_sentence_comes_to(response: str, value: str | None) -> None:
    """A unit, a place and a count belong to the sentence, not to the answer."""
    assert read_expression(response).value == value


@pytest.mark.parametrize(
    ("gold", "right", "wrong"),
    [
        ("1,-2", "The solutions are x = 1 and x = -2.", "The solutions are x = 1 and x = 2."),
        ("1,-2", "Hence $x = -2$ or $x = 1$.", "Hence $x = -2$, $x = 0$ or $x = 1$."),
        ("(-\\infty,0]\\cup[3,\\infty)", "Answer: x ≤ 0 or x ≥ 3", "Answer: x < 0 or x ≥ 3"),
        ("\\emptyset", "The answer is no solution.", "The answer is 0."),
        ("\\emptyset", "\\boxed{\\text{None}}", "\\boxed{0}"),
    ],
)
def test_lists_are_compared_whole(gold: str, right: str, wrong: str) -> None:
    """Neither a part of the solutions nor more than these is right."""
    assert math_equal(ScorerInput(response=right, target=gold))["correct"]
    assert not math_equal(ScorerInput(response=wrong, target=gold))["correct"]


def test_a_long_row_of_numbers_is_read_in_one_way() -> None:
    """Digits and commas that go on for long are one item, however many ways there are to divide them."""
    assert read_expression("1," * 20_000).value is None
