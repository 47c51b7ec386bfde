"""Numbers with the powers of their units, sums written out before or behind their result, and two values for one."""

from __future__ import annotations

import pytest

from nel.scoring.answers import gsm8k_number
from nel.scoring.numeric.numbers import numbers_equal


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
        ("Answer: ‑18", "‑18"),
        ("Answer: －18", "－18"),
        (r"\boxed{‑7}", "‑7"),
        ("Answer: 18‑20", None),
        ("Answer: 2020‑12‑31", None),
        ("The answer is a 10‑day trip.", "10"),
        ("Answer: 𝟏𝟖", "𝟏𝟖"),
        ("I'm not sure, but I think it's 18.", "18"),
        ("I don't know for sure, but my best guess is 18.", "18"),
        ("I'm not sure, but either 18 or 20.", None),
        ("I don't know, but not 18.", None),
        ("She sells 9 eggs at $2 each, making $18 every day at the market.", "$18"),
        ("Since 16 - 7 = 9 and each costs $2, she earns $18.", None),  # 18, and never 9
        ("Jibu ni 18.", "18"),
        ("คำตอบคือ 18", "18"),
        (r"Answer: \geq 5", None),
        ("Answer: over 204", None),
        ("The answer is well under 204.", None),
        ("Answer: about 204", "204"),
        ("Answer: 3 over the years", "3"),
        (r"\boxed{\ln 204}", None),
        (r"\boxed{\sin 30}", None),
        (r"\boxed{204} or \boxed{180}", None),
        (r"$\boxed{204}$ or, in other words, $\boxed{204}$", "204"),
        (r"\boxed{20}4", None),
        (r"$m = \boxed{191}$, $n = \boxed{13}$", None),
        (r"The answer should be in the form \boxed{204}, but I ran out of", None),
        (r"The answer is a whole number, e.g. \boxed{042}. I could not find it.", None),
        (r"It has to be given in the form $\boxed{n}$, so $\boxed{42}$.", "42"),
    ],
)
def test_numbers(response: str, number: str | None) -> None:
    """The power of a unit is no number of its own; a bound and two values are no single number."""
    assert gsm8k_number(response) == number


@pytest.mark.parametrize("minus", ["-", "−", "–", "‑", "‐", "－", "﹣"])
def test_each_sign_that_is_written_for_a_minus_counts(minus: str) -> None:
    """A number below zero never equals the one above, whichever hyphen or dash was written before it."""
    found = gsm8k_number(f"Answer: {minus}18")
    assert found is not None
    assert numbers_equal(found, "-18")
    assert not numbers_equal(found, "18")
