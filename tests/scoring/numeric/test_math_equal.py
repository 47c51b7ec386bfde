"""Mathematical equality, and the worker that cannot be stuck."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from importlib.util import find_spec

import pytest

from nel.errors import DatasetError, ScorerError
from nel.scoring.numeric.math_answer import _WORKER, expressions_equal, math_equal
from nel.types import ScorerInput
from tests.support.tiers import representatives

pytestmark = pytest.mark.skipif(find_spec("math_verify") is None, reason="math_equal needs the extra math")


@pytest.mark.parametrize(
    ("gold", "response", "correct"),
    [
        ("1/2", "so $\\boxed{0.5}$", True),
        ("\\frac{1}{2}", "Answer: 0.5", True),
        ("\\frac12", "\\boxed{\\dfrac{2}{4}}", True),
        ("\\{1,2\\}", "\\boxed{\\{2,1\\}}", True),
        ("(1,2)", "\\boxed{(2,1)}", False),
        ("(0,1]", "\\boxed{(0,1)}", False),
        ("(0,1]", "\\boxed{(0,1]}", True),
        ("5", "\\boxed{5\\text{ cm}}", True),
        ("10", "\\boxed{100}", False),
        ("12345678901234567", "\\boxed{12345678901234568}", False),
        ("1,000", "\\boxed{1000}", True),
        ("x^2+2x+1", "\\boxed{(x+1)^2}", True),
        ("\\sqrt{8}", "\\boxed{2\\sqrt2}", True),
        ("2\\pi", "\\boxed{6.28}", False),
        ("x=5", "\\boxed{5}", True),
        ("\\frac{\\pi}{4}", "so we get $\\pi/4$", True),
        ("-3", "Answer: $-3$", True),
        ("3", "\\boxed{-3}", False),
        ("\\text{yes}", "\\boxed{\\text{no}}", False),
        ("7", "\\boxed{7", False),
        ("7", "", False),
        ("42", "I do not know", False),
        ("5", "It can't be $\\boxed{5}$.", False),
        ("5", "It is not \\boxed{5}.", False),
        ("6", "It can't be $\\boxed{5}$, so it is $\\boxed{6}$.", True),
        ("12", "\\boxed{12_5}", False),
        ("12_5", "\\boxed{12}", True),  # the problem names the base
        ("12_5", "\\boxed{12_{5}}", True),
        ("2516_8", "\\boxed{2516_{\\text{eight}}}", True),
        # other signs for the same
        ("20\\sqrt{5}", "Answer: 20√5", True),
        ("(-\\infty, 2]", "Answer: (-∞, 2]", True),
        ("x^2-x-23", "Answer: x² - x - 23", True),
        ("\\log_{3} 7", "Answer: log_3(7)", True),
        ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "Answer: [[1, 2], [3, 4]]", True),
        ("e^{-2x}", "\\boxed{\\displaystyle\\mathbf{e^{-2x}}}", True),
        ("122_5", "\\boxed{\\mathbf{122_5}}", True),
        ("\\text{June 20}", "Answer: June 20", True),
        # brackets, bounds, approximations, units, equations
        ("\\{1,2\\}", "\\boxed{(1,2)}", False),
        ("(1,2)", "\\boxed{\\{1,2\\}}", False),
        ("3,4", "\\boxed{(4,3)}", False),
        ("3,4", "\\boxed{4,3}", True),
        ("3,-3", "\\boxed{\\pm 3}", True),
        ("3", "\\boxed{\\pm 3}", False),
        ("2", "\\boxed{\\ge 2}", False),
        ("2", "\\boxed{2 \\text{ or more}}", False),
        ("x \\le 2", "\\boxed{(-\\infty, 2]}", True),
        ("5", "\\boxed{\\approx 5}", False),
        ("\\sqrt{2}", "\\boxed{\\sqrt{2} \\approx 1.414}", True),
        ("1.41", "\\boxed{\\approx 1.41}", True),
        ("5\\text{ cm}", "\\boxed{5 m}", False),
        ("5\\text{ cm}", "Answer: 5 centimeters", True),
        ("60^\\circ", "\\boxed{60\\text{ rad}}", False),
        ("\\$5", "\\boxed{5\\text{ cents}}", False),
        ("\\$12", "Answer: 12 dollars", True),
        ("5", "\\boxed{x^2 = 5}", False),
        ("5", "\\boxed{x + y = 5}", True),
        ("2", "\\boxed{1 = 2}", False),
        ("1,234", "\\boxed{1, 234}", False),
        ("1,5", "\\boxed{1.5}", False),
        ("3", "\\boxed{3, 4, \\ldots}", False),
        ("73", "\\boxed{73 \\text{ or } 74}", False),
    ],
)
def test_what_is_equal(gold: str, response: str, correct: bool) -> None:
    """LaTeX, decimals, sets, intervals, tuples, units and equations; plain numbers exactly."""
    assert math_equal(ScorerInput(response=response, target=gold))["correct"] is correct


@pytest.mark.parametrize(
    "hostile",
    representatives(
        ["9^{9^{9^{9}}}", "1000000000!", "(" * 2000 + "7" + ")" * 2000, "\\frac{" * 500], "(" * 2000 + "7" + ")" * 2000
    ),
    ids=lambda text: text[:16],
)
def test_a_hostile_answer_ends_in_bounded_time(hostile: str) -> None:
    """It is wrong or cannot be compared; the next comparison works."""
    with suppress(ScorerError):
        assert not expressions_equal("7", hostile)
    assert expressions_equal("\\sqrt{9}", "3")


def test_an_empty_target_is_a_bad_row() -> None:
    """There is nothing to compare with."""
    with pytest.raises(DatasetError, match="the target is empty"):
        math_equal(ScorerInput(response="1", target=" "))


def test_a_killed_worker_comes_back() -> None:
    """Whoever kills the process between two comparisons costs none of them."""
    assert expressions_equal("\\sqrt{9}", "3")
    assert _WORKER._process is not None
    os.kill(_WORKER._process.pid, signal.SIGKILL)
    _WORKER._process.wait()
    assert expressions_equal("\\sqrt{16}", "4")


def test_threads_share_the_worker() -> None:
    """Answers do not get mixed up between threads."""
    wrong: list[int] = []

    def compare(number: int) -> None:
        if not expressions_equal(f"\\sqrt{{{number * number}}}", str(number)):
            wrong.append(number)

    threads = [threading.Thread(target=compare, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_only_thought_is_no_answer() -> None:
    """A response that ends within its reasoning has none, though the text of it be the gold answer."""
    assert math_equal(ScorerInput(response="<think>\\boxed{12}", target="12"))["correct"] is False


def test_a_ratio_is_no_fraction() -> None:
    """1:2 is not a half, unless the gold answer is a ratio."""
    assert math_equal(ScorerInput(response="\\boxed{1:2}", target="\\frac{1}{2}"))["correct"] is False
    assert math_equal(ScorerInput(response="\\boxed{1:2}", target="1:2"))["correct"] is True


@pytest.mark.parametrize(
    ("given", "gold", "correct"),
    [
        (r"x \le 2", r"(-\infty, 2]", True),
        (r"2 \ge x", r"(-\infty, 2]", True),
        (r"\{x : x \le 2\}", r"(-\infty, 2]", True),
        (r"]-\infty, 2]", r"(-\infty, 2]", True),
        ("x < 2", r"(-\infty, 2]", False),
        (r"x \ge 2", r"(-\infty, 2]", False),
        ("2", r"(-\infty, 2]", False),
        ("1<x<5", "(1,5)", True),
        (r"1 \le x<5", "(1,5)", False),
        ("x<1", "(1,5)", False),
        (r"x<-1 \text{ or } x>2", r"(-\infty,-1)\cup(2,\infty)", True),
        (r"x\le-1 \text{ or } x\ge2", r"(-\infty,-1)\cup(2,\infty)", False),
        ("x<-1", r"(-\infty,-1)\cup(2,\infty)", False),
        (r"x \ne 3", r"(-\infty,3)\cup(3,\infty)", True),
        ("3", r"(-\infty,3)\cup(3,\infty)", False),
        ("x<7", "7", False),
        (r"7\text{ million}", "7", False),
        ("7 thousand", "7", False),
        ("‑7", "-7", True),
        (r"\text{-}7", "-7", True),
        ("‑7", "7", False),
        (r"\begin{pmatrix} 1 & 2 \\[4pt] 3 & 4 \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", True),
        (r"\begin{pmatrix} 1 & 2 \\[4pt] 3 & 5 \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", False),
        (r"3 - 2\mathrm{i}", "3-2i", True),
        (r"\varnothing", r"\emptyset", True),
        ("0", r"\emptyset", False),
        ("(1011)_2", "1011_2", True),
        ("1011", "1011_2", True),  # the problem names the base
        ("11", "1011_2", False),
        (r"\sin 45^\circ", r"\frac{\sqrt{2}}{2}", True),
        (r"x \le 0, x \ge 3", r"(-\infty,0]\cup[3,\infty)", True),
        (r"0 \ge x \text{ or } x\ge 3", r"(-\infty,0]\cup[3,\infty)", True),
        (r"]-\infty,0]\cup[3,\infty[", r"(-\infty,0]\cup[3,\infty)", True),
        (r"(-\infty;0]\cup[3;+\infty)", r"(-\infty,0]\cup[3,\infty)", True),
        (r"\{x\in\mathbb{R} \mid x\le 0 \text{ or } x\ge 3\}", r"(-\infty,0]\cup[3,\infty)", True),
        (r"x < 0, x > 3", r"(-\infty,0]\cup[3,\infty)", False),
        (r"x \le 0 \text{ and } x \ge 3", r"(-\infty,0]\cup[3,\infty)", False),
        (r"x \ge 0, x \le 3", r"(-\infty,0]\cup[3,\infty)", False),
        (r"x \ge 0, x \le 3", "[0,3]", True),
        (r"x \ge 2 \text{ and } x<5", "[2,5)", True),
        ("[2;5)", "[2,5)", True),
        ("(2;5)", "[2,5)", False),
        (r"-\infty<x<\infty", r"\mathbb{R}", True),
        (r"\text{all real numbers}", r"\mathbb{R}", True),
        (r"\text{all positive real numbers}", r"\mathbb{R}", False),
        (r"[3,\pi/2]", r"\left(3,\frac{\pi}{2}\right)", False),  # an interval is no point
        (r"(3,90^\circ)", r"\left(3,\frac{\pi}{2}\right)", True),
        (r"45^\circ", r"\frac{\pi}{4}", True),
        ("45", r"\frac{\pi}{4}", False),
        (r"0.333\ldots", r"\frac13", True),
        ("0.1666...", r"\frac16", True),
        ("0.1515...", r"\frac{5}{33}", True),
        ("0.333", r"\frac13", False),
        (r"0.34\ldots", r"\frac13", False),
        (r"33\frac13\%", r"\frac13", True),
        (r"1358_{10}", "1358", True),
        (r"1358_{8}", "1358", False),
        (r"2516\text{ base }8", "2516_8", True),
        ("1358", "2516_8", False),
        (r"58.5\text{ thousand}", "58500", True),
        (r"58.5\text{ thousand}", "58.5", False),
        (r"\frac{-1+\sqrt5}{2},\frac{-1-\sqrt5}{2}", r"\frac{-1\pm\sqrt{5}}{2}", True),
        (r"\frac{-1+\sqrt5}{2}", r"\frac{-1\pm\sqrt{5}}{2}", False),
        ("x_1 = 1, x_2 = -2", "x=1, x=-2", True),
        (r"\langle 1,2\rangle", r"\begin{pmatrix}1\\2\end{pmatrix}", True),
        (r"(1, 2) \text{ or } (3, 4)", "(1,2),(3,4)", True),
        (r"3\text{ to }2", "3:2", True),
        (r"2\text{ to }3", "3:2", False),
        (r"2k\pi\text{ for integers }k", r"2k\pi", True),
        ("x = 2x + 3", "2x+3", False),
        (r"x \in \{1, 2\}", "(1,2)", False),
        (r"x \in \{1, 2\}", "1,2", True),
        (r"\frac{3}{8} = 37.5\%", r"\frac38", True),
    ],
)
def test_solutions_signs_and_settings(given: str, gold: str, correct: bool) -> None:
    """An inequality is the interval of its solutions; what only changes the looks of an expression does not count."""
    found = math_equal(ScorerInput(response=f"\\boxed{{{given}}}", target=gold))
    assert found["correct"] is correct, found


def test_the_letter_of_an_option_is_read_as_one() -> None:
    """Some problems of MATH have the letter of an option as their answer."""
    assert math_equal(ScorerInput(response="The answer is (C).", target=r"\text{(C)}"))["correct"] is True
    assert math_equal(ScorerInput(response="The answer is (B).", target=r"\text{(C)}"))["correct"] is False
