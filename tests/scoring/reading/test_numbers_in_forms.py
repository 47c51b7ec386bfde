"""Numbers with the powers of their units, sums written out before or after their result, and two values for one."""

from __future__ import annotations

import pytest

from nel.benchmarks.mathematics.aime import whole_number
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
        (r"The two solutions are \boxed{12} and \boxed{17}.", None),
        (r"\boxed{12}, \boxed{17}", None),
        (r"\boxed{12} and \boxed{17} are the factors, so the answer is \boxed{204}.", "204"),
        (r"Case 1: \boxed{204}. Case 2: \boxed{180}. Total:", None),
        (r"Case 1: \boxed{204}. Case 2: \boxed{180}. So the total is", None),
        (r"\boxed{204}. In total we tried 12 ways.", "204"),
        (r"\boxed{a={20},b={4}}", None),
        (r"\boxed{x_1=3, x_2=5}", None),
        (r"\boxed{p=7,\ q=29}", None),
        ("x = 3, x = 5", None),
        ("2x = 10, x = 5", "5"),
        (r"\boxed{204\text{ (or }205)}", None),
        ("Answer: 204 (or 204.0)", "204"),
        ("The answer is 18+.", None),
        ("The answer is a dozen and a half.", "18"),
        ("Answer: two and a half", "2.5"),
        ("Answer: 2 and a half hours", "2.5"),
        ("Answer: 2 and a half million", "2500000"),
        ("The answer is half.", "1/2"),
        ("The answer is half of them.", None),
        # marks between thousands, mixed numbers, words
        (r"Answer: 1{,}\!234", "1234"),
        (r"The answer is 1\ 234.", "1234"),
        ("Answer: 14 {, }916", "14916"),
        ("The answer is 1 and 1/2.", "1.5"),
        ("Answer: 1 and 3", None),
        ("The answer is one thousand, two hundred and thirty-four.", "1234"),
        ("#### forty-two", "42"),
        ("#### Two cases\nIn one she has 3, in the other 4.\n#### 7", "7"),
        (r"#### \frac{3}{4}", "0.75"),
        ("Answer: <72>", "72"),
        ("Answer: < 72", None),
        # the last line, whatever stands before it
        ("She sold 48 + 24. He sold 2 less. So: 72.\nTotal: 72 clips", "72"),
        ("She sold 48 + 24. He sold 2 less. So: 72.\n$x=72$ clips", "72"),
        ("She has 5. He has 3. They buy 7.\nThen she gives\nTom 4 of her", None),  # cut off
        ("We add 48 and 24.\n=> 72", "72"),
        ("We add 48 and 24.\n> **72**", "72"),
        ("| Item | Cost |\n|---|---|\n| Pens | 12 |\n| **Total** | **$72** |\n\nShe spent 72 dollars.", "72"),
        ("The total before the discount is 26. The final price is 18 dollars.", "18"),
        ("So it takes him 72 minutes, i.e. 1 hour and 12 minutes.", "72"),
        # an answer that gives way to a later one
        ("First answer: 26. After checking: 18.", "18"),
        ("Initial answer: 26\n\nThat counts the zero. So there are 18 in all.", "18"),
        ("First answer: 26.", "26"),
        ("#### 26\n\nWait, that's not right. It should be 9*2=18.\n\n#### 18", "18"),
        ("#### 26\n\nTom has to wait 3 hours and then 4 more.\n#### 7", "26"),  # runs on
        # a backslash that was lost as an escape
        ("so \x08oxed{204}", "204"),
        ("so $boxed{204}$", "204"),
    ],
)
def test_numbers(response: str, number: str | None) -> None:
    """The power of a unit is no number of its own; a bound and two values are no single number."""
    found = gsm8k_number(response)
    assert (found is None) == (number is None), found
    assert number is None or numbers_equal(found, number), found


@pytest.mark.parametrize(
    ("response", "number"),
    [
        (r"$\boxed{2\cdot102}$", "204"),
        (r"\boxed{200+4}", "204"),
        (r"\boxed{2 \times 100 + 4}", "204"),
        ("<answer>3 + 5 * 2 - 1</answer>", "12"),
        ("Answer: -3 + 5", "2"),
        ("Answer: 1000-73", None),  # a difference, or a range
        ("Answer: 40 - 42", None),
        ("The total is $2000 + $50 *", None),  # cut off
        (r"\boxed{5!}", "120"),
        (r"\boxed{3!\cdot 4}", "24"),
        (r"\boxed{\frac{6!}{3!}}", "120"),
        (r"\boxed{\dbinom{10}{3}}", "120"),
        (r"\boxed{n = 2(3 + 4)^2}", "98"),
        (r"\boxed{\sqrt{16}}", "4"),
        (r"\boxed{1\frac{1}{2}}", "1.5"),
        (r"\boxed{5\sqrt{3}}", None),
        (r"\boxed{140-20}", None),  # a difference, or a range
        (r"\boxed{m = 3, n = 7!}", None),
        ("Answer: 5!", None),
        ("Answer: - 3 + 5", None),
        ("Answer: √5 + 3", None),
        (r"\boxed{204 \pmod{1000}}", "204"),
        (r"The answer is $1204 \equiv 204 \pmod{1000}$.", "204"),
        ("Answer: 204 (mod 1000)", "204"),
        ("Answer: 1204 mod 1000", None),
        ("Answer: 1204 mod 1000 = 204", "204"),
    ],
)
def test_sums_and_remainders(response: str, number: str | None) -> None:
    """A sum, a difference or a product of numbers alone is its value, and a modulus is no number of its own."""
    found = gsm8k_number(response)
    assert (found is None) == (number is None), found
    assert number is None or numbers_equal(found, number), found


@pytest.mark.parametrize(
    ("response", "number"),
    [
        (r"\boxed 7", "7"),
        (r"So $\boxed 204$ it is.", "204"),
        (r"\framebox{204}", "204"),
        ("<ans>204</ans>", "204"),
        ("Final answer -> 204", "204"),
        ("The answer's 204.", "204"),
        ("204 is our answer.", "204"),
        ("So she makes **$18** every day by selling 9 eggs at $2 each.", "18"),
        ("She sells **9** eggs or 18.", None),
        ("So x = 18. Check: 2(18) + 3 = 39 ✓.", "18"),
        ("Check: 2(18) + 3 = 39 ✓.", None),
        ("Let me verify: the answer is 18.", "18"),
        ("The answer is 18, not 26 as some might think.", "18"),
        ("It's 18 (some might say 26).", "18"),
        ("In all, 50% of 36 is 18.", "18"),
        ("50% of 36 is 18.", None),  # 18, and never 50
        ("So there are two or more of them (i.e. several).", None),
        ("So there are two of them (i.e. a pair).", "2"),
        ("She sells **9** eggs at **$2** each.", None),
    ],
)
def test_declarations_and_emphasis(response: str, number: str | None) -> None:
    """A box needs no braces, a tag may be short, and the only number in bold is the one that is meant."""
    found = gsm8k_number(response)
    assert (found is None) == (number is None), found
    assert number is None or numbers_equal(found, number), found


@pytest.mark.parametrize(
    ("response", "number"),
    [
        ("Answer: 18<|endoftext|>Question: 3 + 3?\nThe answer is 6.", "18"),
        ("Answer: 18<|im_end|>\n<|im_start|>user\n3 + 3?<|im_end|>\n<|im_start|>assistant\nAnswer: 6", "18"),
        ("Let me see.<|im_end|>\n<|im_start|>assistant\nAnswer: 18", "18"),
        ("18</s><s>[INST] 3 + 3? [/INST] The answer is 6.</s>", "18"),
        ("<|im_start|>assistant\nAnswer: 18<|im_end|>", "18"),
        ("<think>5</think></s>Answer: 18", "18"),
    ],
)
def test_what_follows_the_end_of_the_turn_is_no_answer(response: str, number: str) -> None:
    """A model whose end token did not stop it answers questions of its own after it."""
    assert gsm8k_number(response) == number


@pytest.mark.parametrize("minus", ["-", "−", "–", "‑", "‐", "－", "﹣"])
def test_each_sign_that_is_written_for_a_minus_counts(minus: str) -> None:
    """A number below zero never equals the one above, whichever hyphen or dash was written before it."""
    found = gsm8k_number(f"Answer: {minus}18")
    assert found is not None
    assert numbers_equal(found, "-18")
    assert not numbers_equal(found, "18")


@pytest.mark.parametrize(
    ("response", "number"),
    [
        ("204", "204"),
        ("So we find\n\n**204**", "204"),
        ("and we get\n\\[\n204\n\\]", "204"),
        ("```\n204\n```", "204"),
        ("Let me compute:\n17\n", None),
        ("so 204", None),
        ("**Step 5**\n\n**5** more", None),
        ("\\boxed{3} and \\boxed{7}\n\n**7**", None),
    ],
)
def test_a_number_set_off_as_the_last_line_is_declared(response: str, number: str | None) -> None:
    """Where only a declared number counts, one that ends the response in bold, in a formula or in code does."""
    assert whole_number(response) == number
