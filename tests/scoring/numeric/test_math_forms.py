"""Answers in a frame or in another notation mean what they mean without; other answers stay apart."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from nel.scoring.numeric.math_answer import expressions_equal, final_expression
from nel.scoring.numeric.math_forms import usual_form


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        (r"N = 10{,}080", "N = 10080"),
        (r"10{,}\!080", "10080"),
        (r"14 {, }916", "14916"),
        (r"1\;234", "1234"),
        (r"x=-2,~1", "x=-2, 1"),
        (r"\bigl(3, \tfrac{\pi}{2}\bigr)", r"(3, \tfrac{\pi}{2})"),
        (r"\left ( 3, 4 \right )", r"\left( 3, 4 \right)"),
        (r"[0,1]\bigcup[3,\infty)", r"[0,1]\cup[3,\infty)"),
        (r"(-\infty, 0] \text{ or } [3, \infty)", r"(-\infty, 0]\cup [3, \infty)"),
        (r"\lbrace 1,2 \rbrace", r"\{1,2 \}"),
        ("\\begin{pmatrix}\n1 \\cr\n2\\end{pmatrix}", r"\begin{pmatrix} 1 \\ 2\end{pmatrix}"),
        (r"\text{10\%}", r"10\%"),
        (r"\text{The probability is }\frac{1}{2}", r"\frac{1}{2}"),
        (r"\textbf{(B)}\ 2", "2"),
        ("(B) 2", "2"),
        (r"f^{-1}(x) = \frac{x+2}{7}", r" \frac{x+2}{7}"),
        (r"2\pi k, \quad k \in \mathbb{Z}", r"2\pi k"),
        (r"2 \pmod{5}", "2"),
        (r"x \equiv 2 \pmod 7", "2"),
        (r"2516_{(8)}", "2516_{8}"),
        (r"2516 \text{ (base 8)}", "2516_{8}"),
        (r"\overline{2516}_8", "2516_8"),
        (r"0.1\overline{6}", r"\frac{15}{90}"),
        ("+/-5", r"\pm 5"),
        (r"\text{zero}", "0"),
        (r"\text{no real solutions}", r"\emptyset"),
        (r"\text{infinity}", r"\infty"),
        # what stays as it is
        ("3+-5", "3+-5"),
        (r"\text{Evelyn}", r"\text{Evelyn}"),
        (r"\mathrm{C}_{60}", r"\mathrm{C}_{60}"),
        ("f(2) = 7", "f(2) = 7"),
        (r"17 \pmod{5}", r"17 \pmod{5}"),  # to be computed
    ],
)
def test_usual_form(text: str, usual: str) -> None:
    """Only what says nothing of an answer is left out, and of two notations the usual one is taken."""
    assert usual_form(text, "5") == usual


@pytest.mark.parametrize(
    ("text", "other"), [(r"x \equiv 2 \pmod 7", r"2 \pmod{7}"), (r"x \in \mathbb{Z}", r"n \in \mathbb{Z}")]
)
def test_what_both_answers_have_is_no_frame(text: str, other: str) -> None:
    """A gold answer with a modulus or a domain is compared with it."""
    assert usual_form(text, other) == text


@pytest.mark.skipif(find_spec("math_verify") is None, reason="math_equal needs the extra math")
@pytest.mark.parametrize(
    ("gold", "given", "equal"),
    [
        ("10080", "N = 10{,}080", True),
        (r"\frac{x+2}{7}", r"f^{-1}(x) = \frac{x+2}{7}", True),
        (r"\frac{x+2}{7}", r"f^{-1}(x) = \frac{x-2}{7}", False),
        (r"-\frac13", r"-0.\overline{3}", True),
        (r"-\frac13", r"-0.\overline{4}", False),
        (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", "(1, 2)", True),
        ("(1, 2)", r"\begin{bmatrix} 1 \\ 2 \end{bmatrix}", True),
        (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", "(2, 1)", False),
        (r"(3, \frac{\pi}{2})", r"\Bigl(3,\,\tfrac{\pi}{2}\Bigr)", True),
        (r"(3, \frac{\pi}{2})", r"\Bigl(2,\,\tfrac{\pi}{2}\Bigr)", False),
        ("2", r"\textbf{(B) }3", False),
        (r"\pm 5", "+/-5", True),
        (r"\emptyset", r"\text{no solution}", True),
        (r"\ln 2", "ln 2", True),
    ],
)
def test_expressions_equal(gold: str, given: str, equal: bool) -> None:
    """An unusual form is compared by its value."""
    assert expressions_equal(gold, given) is equal


@pytest.mark.parametrize(
    ("line", "expression"),
    [
        ("Answer: x = 1, x = -2", "x = 1, x = -2"),
        ("Answer: x = 1 or x = -2", "x = 1 or x = -2"),
        ("Answer: 5 or 6", None),  # two guesses
        ("**Answer:** 6-5 i", "6-5 i"),
        ("Answer: 3 1/2", "3 1/2"),
        (r"The final answer is - \frac{1}{3}.", r"- \frac{1}{3}"),
        (r"Answer: 120~\text{cm}^2", r"120~\text{cm}^2"),
        (r"Answer: \infty", r"\infty"),
        ("#### 72", "72"),
        ("Answer: N/A", None),
        ("The final answer is:", None),
        ("The answer is ____.", None),
        ("The answer is: {4, 17}.", "{4, 17}"),
    ],
)
def test_a_last_line_without_delimiters_is_read_whole(line: str, expression: str | None) -> None:
    """Spaces, commas and commands in it are a part of the expression that it declares."""
    assert final_expression(f"We expand the square.\n\n{line}") == expression


@pytest.mark.parametrize("text", [" ," * 450 + "k\\in", "\\text{" + " " * 990, "\\quad" * 190, "f(" + "a," * 490])
def test_a_long_frame_that_does_not_end_is_left(text: str) -> None:
    """The longest answer that is looked at costs little."""
    assert usual_form(text, "5") == text
