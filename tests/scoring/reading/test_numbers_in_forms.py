"""Numbers with the powers of their units, sums written out before or behind their result, and two values for one."""

from __future__ import annotations

import pytest

from nel.scoring.answers import gsm8k_number


@pytest.mark.parametrize(
    ("response", "number"),
    [
        ("Answer: 18 m^2", "18"),
        (r"\boxed{18 \text{ cm}^2}", "18"),
        (r"\boxed{18\ \mathrm{cm}^{3}}", "18"),
        ("The answer is 18 m/s^2.", "18"),
        ("The area is 18 ft^2.", "18"),
        ("Answer: 18 x^2", None),
        ("Answer: 5^2", "5^2"),
        ("=> 18", "18"),
        ("It's 18!", "18"),
        ("Answer: 18!", None),
        ("6*7 is 42", "42"),
        ("6 times 7 is 42", "42"),
        ("42 = 6 × 7", "42"),
        ("a = 1, b = 2", None),
        (r"\boxed{a=3, b=4}", None),
        ("x = 5, y = 3, so x + y = 8", "8"),
        ("1; 2", None),
        ("He pays $5 + $6 = $11, and gets $9 back.", None),
        ("He pays $5 + $6 = $11, and that is all.", "$11"),
        ("Answer: 6.8, rounded to 7", "7"),
        ("Answer: 6.8, rounded to 1 decimal place", "6.8"),
        ("Answer: 6.8, rounded to 2 significant digits", "6.8"),
        (r"x \ge 5", None),
        (r"Answer: \geq 5", None),
    ],
)
def test_numbers(response: str, number: str | None) -> None:
    """The power of a unit is no number of its own; a bound and two values are no single number."""
    assert gsm8k_number(response) == number
