"""Two final answers are equal when they are the same mathematics, however small, large or oddly written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nel.scoring.mathematics import process
from nel.scoring.mathematics.comparison import expressions_equal

RECORDED = [
    json.loads(line) for line in (Path(__file__).parent / "recorded.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Answers of models with the gold ones (Qwen2.5-Math on MATH, 13 models on Odyssey), judged by hand."""


@pytest.fixture(autouse=True)
def _long_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no comparison that has an end be given up, however slow the machine is."""
    monkeypatch.setattr(process, "SECONDS_MAX", 60.0)


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row['gold'][:24]}|{row['answer'][:24]}")
def test_recorded_answers(row: dict[str, str | bool]) -> None:
    """What a model wrote is compared with the gold answer as a person does."""
    assert expressions_equal(str(row["gold"]), str(row["answer"])) is row["equal"]


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("6.7\\times 10^{-34}", "6.6\\times 10^{-34}"),
        ("\\frac{1}{21!}", "\\frac{1}{20!}"),
        ("10^{-40}", "0"),
        ("10^{-20}x", "10^{-21}x"),
        ("\\begin{pmatrix}10^{-20}\\\\1\\end{pmatrix}", "\\begin{pmatrix}10^{-21}\\\\1\\end{pmatrix}"),
    ],
)
def test_tiny_values_are_told_apart(gold: str, answer: str) -> None:
    """What is nearly zero is not zero: only the relative difference counts."""
    assert not expressions_equal(gold, answer)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("3^{-70}", "\\frac{1}{3^{70}}"),
        ("\\frac{1}{20!}", "\\frac{1}{20 \\cdot 19!}"),
        ("10^{-21}", "0.000000000000000000001"),
    ],
)
def test_equal_tiny_values(gold: str, answer: str) -> None:
    """A tiny value has several notations, too."""
    assert expressions_equal(gold, answer)


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("e^{30}", "10686474581524.46", True),
        ("e^{30}", "1.07 \\times 10^{13}", False),
        ("10^{40}", "10^{40}+1", False),
        ("2^{1000}", "2^{1001}", False),
        ("123456789012345678901234567890", "123456789012345678901234567891", False),
    ],
)
def test_huge_values(gold: str, answer: str, equal: bool) -> None:
    """A decimal of many digits agrees with an exact value; a whole number is itself alone."""
    assert expressions_equal(gold, answer) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("20!", "2432902008176640000", True),
        ("20!", "2432902008176640001", False),
        ("100!", "100 \\cdot 99!", True),
        ("\\binom{100}{50}", "\\binom{100}{49}", False),
    ],
)
def test_factorials(gold: str, answer: str, equal: bool) -> None:
    """Factorials and binomial coefficients have exact values."""
    assert expressions_equal(gold, answer) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("5-\\mathrm{e}^{2}", "5+\\mathrm{e}^{2}", False),
        ("e^2", "\\mathrm{e}^2", True),
        ("\\mathrm{e}", "2.71828", True),
        ("e", "2.72", False),
        ("5\\mathrm{e}", "5", False),
    ],
)
def test_upright_constants(gold: str, answer: str, equal: bool) -> None:
    """An upright e is Euler's number, and no unit that may be dropped."""
    assert expressions_equal(gold, answer) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("-1", "e^{i\\pi}", True),
        ("1-i", "\\frac{2}{1+\\mathrm{i}}", True),
        ("z=2+i", "2+i", True),
        ("i n", "ni", True),
        ("i", "-i", False),
        ("5i", "5", False),
        ("(i,1)", "(1,i)", False),
        ("\\sum_{i=1}^{3} i", "6", True),
    ],
)
def test_the_imaginary_unit(gold: str, answer: str, equal: bool) -> None:
    """Its square is -1, unless it is the index of a sum or stands in a pair."""
    assert expressions_equal(gold, answer) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("12.5\\%", "12.5", True),
        ("12.5\\%", "0.125", True),
        ("\\frac18", "12.5%", True),
        ("0.2", "20\\text{ percent}", True),
        ("33\\frac{1}{3}\\%", "\\frac13", True),
        ("p=12.5\\%", "12.5\\%", True),
        ("12", "1,200\\%", True),
        ("10\\%, 20\\%", "10, 20", True),
        ("10\\%", "1000\\%", False),
        ("33.3\\%", "\\frac13", False),
    ],
)
def test_percentages(gold: str, answer: str, equal: bool) -> None:
    """A percentage is its number, as the official rule of MATH has it, and the share that it means."""
    assert expressions_equal(gold, answer) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("\\frac13", "0.333333", True),
        ("1/3", "0.33333", False),
        ("\\sqrt2", "1.414", False),
        ("\\pi", "3.14", False),
        ("9007199254740993", "9007199254740992", False),
        ("3.5", "3\\frac12", True),
        ("11/2", "1 1/2", False),
        ("1,234", "1, 234", False),
        ("58500", "58.5\\text{ thousand}", True),
        ("0.\\overline{3}", "\\frac13", True),
    ],
)
def test_numbers(gold: str, answer: str, equal: bool) -> None:
    """Two plain numbers are compared exactly; a decimal agrees with another exact value to six digits."""
    assert expressions_equal(gold, answer) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("\\{1,2\\}", "\\{2,1\\}", True),
        ("1,-2", "-2, 1", True),
        ("(1,2)", "(2,1)", False),
        ("\\{1,2\\}", "(1,2)", False),
        ("(0,1]", "(0,1)", False),
        ("[0,1)", "\\left[0,1\\right)", True),
        ("x \\in [-2,7]", "[-2,7]", True),
        ("\\emptyset", "0", False),
        ("\\{x|-2\\leq x < 1\\}", "[-2, 1)", True),
        ("(-\\infty,-1)\\cup(2,\\infty)", "x<-1 \\text{ or } x>2", True),
        ("3,-3", "\\pm 3", True),
        ("\\{1\\pm\\sqrt{5},-2\\}", "1+\\sqrt5, 1-\\sqrt5, -2", True),
        ("73", "73 \\text{ or } 74", False),
    ],
)
def test_sets_intervals_and_lists(gold: str, answer: str, equal: bool) -> None:
    """The order matters in a tuple, the brackets in an interval; an inequality is the interval of its solutions."""
    assert expressions_equal(gold, answer) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("5\\text{ cm}", "5", True),
        ("15\\mbox{ cm}^2", "15", True),
        ("5\\text{ cm}", "5 centimeters", True),
        ("5\\text{ cm}", "5\\text{ m}", False),
        ("5", "5\\text{ miles per hour}", True),
        ("90^\\circ", "90", True),
        ("72\\pi", "72 \\pi \\text{ square units}", True),
        ("4t", "4m", False),
    ],
)
def test_units(gold: str, answer: str, equal: bool) -> None:
    """A unit may be left out but not be another one, and a variable is none."""
    assert expressions_equal(gold, answer) is equal


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("2516_8", "2516_{8}", True),
        ("12_5", "12_6", False),
        ("x=5", "5", True),
        ("x=5", "y=5", False),
        ("5x - 7y + 11z + 4 = 0", "-20x + 28y - 44z - 16 = 0", True),
        ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}", True),
        ("2\\cos 15^{\\circ}", "\\frac{\\sqrt6+\\sqrt2}{2}", True),
        ("26", "\\textbf{(B)}\\ 26", True),
        ("\\text{(A)}", "A", True),
        ("\\text{A}", "B", False),
        ("\\frac12", "\\text{The probability is }\\frac{1}{2}", True),
        ("\\frac{2}{3}", "\\frac23 \\approx 0.67", True),
        ("8/17", "The direct calculation of sin A was not achieved.", False),
    ],
)
def test_bases_equations_matrices_and_words(gold: str, answer: str, equal: bool) -> None:
    """A base, a name before an equals sign and an option's letter may be left out, but not be another one."""
    assert expressions_equal(gold, answer) is equal


def test_a_long_answer_is_not_compared() -> None:
    """An answer of more than 2,000 characters is none."""
    assert not expressions_equal("5", "5" + "+0" * 1_000)
