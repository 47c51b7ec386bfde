"""Mathematical answers are compared as mathematics, in bounded time, whatever is thrown at the process that does it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nel.benchmarks.api.benchmark import Benchmark
from nel.engine.scorers.call import ScoringTask, is_builtin_rule
from nel.errors import DatasetError, MissingExtra, ScorerError
from nel.prompts import compile_template
from nel.scoring.numeric import math_answer
from nel.scoring.numeric.math_answer import expressions_equal, final_expression, math_equal
from nel.types import ModelFailure, Response, Sample, Scored, ScorerInput
from tests.support.scoring import score_all
from tests.support.tiers import ENDS, first_rows, representatives

pytestmark = pytest.mark.skipif(find_spec("math_verify") is None, reason="math_equal needs the extra math")


_HANGS_SECONDS = 120.0
"""Bounds the wait for what happens within a second."""


def _score(response: str, target: Any) -> dict[str, Any]:
    return math_equal(ScorerInput(response=response, target=target))


@pytest.fixture(autouse=True)
def _long_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no comparison that has an end be given up, however slow the machine is."""
    monkeypatch.setattr(math_answer, "SECONDS_MAX", 60.0)


@pytest.fixture
def _ends_the_worker() -> Iterator[None]:
    yield
    math_answer._WORKER.stop()


def _score_in_short(response: str, target: Any) -> dict[str, Any]:
    """Score what may have no end."""
    with patch.object(math_answer, "SECONDS_MAX", 1.5):
        return _score(response, target)


@pytest.mark.parametrize(
    ("gold", "given"),
    [
        # fractions and decimals
        ("0.5", "\\frac{1}{2}"),
        ("0.5", "\\frac12"),
        ("\\dfrac{1}{2}", "\\tfrac12"),
        ("1/2", "\\frac{2}{4}"),
        ("-\\frac{1}{2}", "\\frac{-1}{2}"),
        ("-\\frac{1}{2}", "-0.5"),
        ("\\frac{3}{2}", "1\\frac{1}{2}"),
        ("1.5", "1\\frac12"),
        ("0.1", "0.10"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+5", "5"),
        ("1/3", "0.333333"),
        ("\\frac13", "0.333333"),
        ("2/3", "0.666667"),
        # whole numbers
        ("-5", "−5"),
        ("-5", "-5.0"),
        ("0", "-0"),
        ("1,000", "1000"),
        ("1{,}000", "1000"),
        ("1000000", "1,000,000"),
        ("10000", "10 000"),
        ("100\\,000", "100000"),
        ("1000", "1e3"),
        ("1000", "1\\times10^3"),
        ("$5", "5"),
        ("2^{100}", "1267650600228229401496703205376"),
        ("9007199254740993", "9007199254740993.0"),
        # irrational numbers and functions
        ("\\sqrt{8}", "2\\sqrt{2}"),
        ("\\sqrt2", "1.41421356"),
        ("\\pi", "3.14159265"),
        ("\\frac{\\sqrt{3}}{2}", "0.8660254"),
        ("120", "5!"),
        ("10", "\\binom{5}{2}"),
        ("12", "3\\cdot 4"),
        ("\\infty", "\\infty"),
        # expressions
        ("x^2+2x+1", "(x+1)^2"),
        ("a+b", "b+a"),
        ("p - q", "p-q"),
        ("\\frac{x}{y}", "x/y"),
        ("6 - 5i", "6-5i"),
        ("2+3i", "3i+2"),
        # sets, intervals, tuples, lists
        ("\\{1,2\\}", "\\{2,1\\}"),
        ("{1,2}", "{2,1}"),
        ("1,2,3", "1, 2, 3"),
        ("(0,1]", "(0, 1]"),
        ("[0,1)", "\\left[0,1\\right)"),
        ("(1,2)", "(1, 2)"),
        ("(3,\\pi/2)", "\\left( 3, \\frac{\\pi}{2} \\right)"),
        ("\\emptyset", "\\{\\}"),
        ("x\\in[0,1]", "[0,1]"),
        ("\\mathbb{R}", "(-\\infty,\\infty)"),
        # matrices
        ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}"),
        ("\\begin{pmatrix}0.5\\\\3\\end{pmatrix}", "\\begin{pmatrix}\\frac12\\\\3\\end{pmatrix}"),
        # units and percent
        ("5", "5\\text{ cm}"),
        ("5\\text{ cm}", "5 \\mathrm{cm}"),
        ("5\\text{ cm}", "5"),
        ("90", "90^\\circ"),
        ("50\\%", "50%"),
        ("0.5", "50\\%"),
        # equations
        ("5", "x=5"),
        ("x=5", "5"),
        ("x=5", "x = 5.0"),
        ("y=2x+1", "2x+1"),
        ("x<5", "5>x"),
        # text
        ("\\text{yes}", "yes"),
        ("Paris", "Paris"),
        ("\\text{A}", "A"),
        ("\\text{Evelyn}", "Evelyn"),
    ],
)
def test_equal_expressions(gold: str, given: str) -> None:
    """Different ways to write one thing are equal, whichever of them is the gold answer."""
    assert expressions_equal(gold, given)


@pytest.mark.parametrize(
    ("gold", "given"),
    [
        ("10", "100"),
        ("5", "6"),
        ("-5", "5"),
        ("1/3", "0.33"),
        ("\\frac12", "\\frac13"),
        ("9007199254740993", "9007199254740992"),
        ("123456789012345678901234567890", "123456789012345678901234567891"),
        ("2^{100}", "1267650600228229401496703205377"),
        ("10^{30}", "10^{30}+1"),
        ("100000000", "100000001"),
        ("0.0000001", "0.0000002"),
        ("0.0000001", "0"),
        ("1.0000001", "1"),
        ("0.999999", "1"),
        ("\\pi", "3.14"),
        ("\\infty", "-\\infty"),
        ("x+1", "x+2"),
        ("x", "y"),
        ("2+3i", "2-3i"),
        ("\\{1,2\\}", "\\{1,2,3\\}"),
        ("\\{1,2\\}", "1"),
        ("2, 3", "2"),
        ("2", "2, 3"),
        ("(0,1]", "(0,1)"),
        ("[0,1]", "(0,1)"),
        ("(0,1)", "(1,0)"),
        ("(1,2)", "(2,1)"),
        ("[1,2]", "[2,1]"),
        ("(1,2)", "(1,2,3)"),
        ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{pmatrix}1&2\\\\4&3\\end{pmatrix}"),
        ("50\\%", "5"),
        ("50\\%", "51\\%"),
        ("x=5", "y=5"),
        ("x=5", "x=6"),
        ("x<5", "x>5"),
        ("3", "x\\neq 3"),
        ("3", "x>3"),
        ("\\pm 3", "3"),
        ("yes", "no"),
        ("Paris", "London"),
        ("even", "odd"),
        ("A", "B"),
        ("Monday", "Tuesday"),
    ],
)
def test_different_expressions(gold: str, given: str) -> None:
    """What means something else is not equal, integers and decimals to the last digit."""
    assert not expressions_equal(gold, given)


@pytest.mark.parametrize(("gold", "given"), [("11/2", "1 1/2"), ("34", "3 4"), ("12", "1 2"), ("121", "1 2 1")])
def test_a_space_between_digits_does_not_join_them(gold: str, given: str) -> None:
    """One and a half is not eleven halves, and two numbers are not one, unless the space groups thousands."""
    assert not expressions_equal(gold, given)


def test_a_mixed_number_may_be_plain() -> None:
    """1 1/2 is three halves."""
    assert expressions_equal("3/2", "1 1/2")


@pytest.mark.parametrize(("gold", "given"), [("5\\text{ cm}", "5\\text{ m}"), ("5\\text{ km}", "5 \\mathrm{kg}")])
def test_another_unit_is_another_answer(gold: str, given: str) -> None:
    """A unit may be left out, but a wrong one is wrong."""
    assert not expressions_equal(gold, given)


@pytest.mark.parametrize(
    ("gold", "given"),
    [
        ("\\$5", "5"),
        ("5", "\\$5"),
        ("\\$18.90", "18.90"),
        ("18.90", "\\$18.90"),
        ("\\$32,\\!348", "32,348"),
        ("\\$32,\\!348", "\\$32348"),
    ],
)
def test_an_escaped_dollar_sign_is_a_currency(gold: str, given: str) -> None:
    """A price written in LaTeX is a number, as the gold answer and as the given one."""
    assert expressions_equal(gold, given)


@pytest.mark.parametrize(
    ("response", "target", "extracted"),
    [
        ("So \\boxed{4}", "4", "4"),
        ("First \\boxed{3}, then \\boxed{4}", "4", "4"),
        ("\\boxed{\\frac{1}{2}} is it", "0.5", "\\frac{1}{2}"),
        ("\\fbox{7}", "7", "7"),
        ("\\boxed {7}", "7", "7"),
        ("\\boxed{\\boxed{7}}", "7", "7"),
        ("$$\\boxed{\\boxed{\\boxed{\\frac12}}}$$", "0.5", "\\frac12"),
        ("Answer: $\\frac{1}{2}$", "0.5", "\\frac{1}{2}"),
        ("**Answer:** 7", "7", "7"),
        ("Answer: 7\n\nAnswer: 8", "8", "8"),
        ("\\boxed{4}\nAnswer: 3", "3", "3"),
        ("The answer is 42", "42", "42"),
        ("42", "42", "42"),
        ("I think $x=5$ so the result is $7$.", "7", "7"),
        ("\\boxed{x=7}", "7", "x=7"),
        ("\\boxed{yes}", "\\text{yes}", "yes"),
        ("\\boxed{0.5}", 0.5, "0.5"),
        ("\\boxed{5}", 5, "5"),
        ("\\boxed{\n5\n}", "5.0", "5"),
    ],
)
def test_what_is_taken_for_the_final_answer(response: str, target: Any, extracted: str) -> None:
    """The last box, else the last marked answer, else the last expression."""
    assert _score(response, target) == {"correct": True, "parsed": True, "extracted": extracted}


@pytest.mark.parametrize(
    ("response", "target"),
    [("\\boxed{4} then \\boxed{3}", "4"), ("Answer: 8\nAnswer: 7", "8"), ("8", "7")],
)
def test_an_earlier_answer_does_not_count(response: str, target: str) -> None:
    """A right answer that was taken back is wrong."""
    scored = _score(response, target)
    assert (scored["correct"], scored["parsed"]) == (False, True)


@pytest.mark.parametrize(
    "response",
    [
        "",
        " ",
        "no idea",
        "\\boxed{}",
        "\\boxed{ }",
        "\\boxed{5} or \\boxed{}",
        "\\boxed{5} and \\boxed{6",
        "maybe 5 but also 7",
    ],
)
def test_a_response_without_an_expression_is_no_answer(response: str) -> None:
    """Nothing extracted is not parsed."""
    assert _score(response, "5") == {"correct": False, "parsed": False, "extracted": None}


@pytest.mark.parametrize(
    ("response", "gold", "right"),
    [
        (r"\boxed{\textcolor{red}{\frac12}}", "0.5", True),
        (r"\boxed{\color{blue}x+1}", "x+1", True),
        (r"$x = \textcolor{blue}{\sqrt{8}}$", r"2\sqrt2", True),
        (r"\boxed{(\color{red}1,\color{blue}2)}", "(1,2)", True),
        (r"\boxed{\colorbox{yellow}{\text{even}}}", r"\text{even}", True),
        (r"\boxed{\textcolor[rgb]{1,0,0}{5\text{ cm}}}", "5", True),
        (r"\boxed{\textcolor{red}{7}}", "5", False),
    ],
)
def test_colours_say_nothing(response: str, gold: str, right: bool) -> None:
    """A colour, of the whole answer or of a part, leaves the expression as it is."""
    assert _score(response, gold)["correct"] is right


@pytest.mark.parametrize("text", ["yes", "Paris", "even", "A", " yes. "])
def test_a_response_that_is_the_target_is_right(text: str) -> None:
    """A text answer need not stand in a box when it is all of the response."""
    assert _score(text, text.strip(" ."))["correct"]


@pytest.mark.parametrize("target", ["", "  ", None])
@pytest.mark.parametrize("response", ["", "5", "\\boxed{5}", "None"])
def test_no_target_is_a_bad_row(response: str, target: Any) -> None:
    """A row without a gold answer is not scored."""
    with pytest.raises(DatasetError):
        _score(response, target)


@pytest.mark.parametrize("target", [["12", "13"], ("13", "12")])
def test_several_targets_are_tried_or_refused(target: Any) -> None:
    """One of several accepted answers is right, or the row is bad; it is not silently wrong."""
    with suppress(DatasetError):
        assert _score("\\boxed{12}", target)["correct"]


def test_final_expression() -> None:
    """Nested braces are kept, unclosed boxes passed over."""
    assert final_expression("a \\boxed{\\frac{1}{\\sqrt{2}}} b") == "\\frac{1}{\\sqrt{2}}"
    assert final_expression("\\boxed{1") is None
    assert final_expression("nothing") is None
    assert final_expression("") is None


_HOSTILE = {
    "tower": "9^{9^{9^9}}",
    "factorial": "1000000000!",
    "factorials": "(((9!)!)!)!",
    "power": "10^{10^{10}}",
    "product": "\\prod_{n=1}^{10^9} n",
    "binomial": "\\binom{10^9}{5\\cdot10^8}",
    "expansion": "(x+y+z)^{300}",
    "sine": "\\sin(10^{1000000})",
    "exponent": "1e999999999",
    "deep parentheses": "(" * 900 + "1" + ")" * 900,
    "deep fractions": "\\frac{" * 150 + "1" + "}{2}" * 150,
    "deep roots": "\\sqrt{" * 200 + "2" + "}" * 200,
    "long sum": "1+" * 900 + "1",
    "long matrix": "\\begin{pmatrix}" + "1&" * 400 + "1\\end{pmatrix}",
    "digits": "9" * 1_900,
    "half a fraction": "\\frac{1}",
    "division by zero": "\\frac{1}{0}",
    "indeterminate": "\\infty-\\infty",
    "not a number": "nan",
    "code": "__import__('os').system('touch injected')",
    "lambda": "lambda: 1",
    "null": "\x00",
    "surrogate": "\ud800",
    "lines": 'x\n{"equal": true, "gold": true, "given": "5"}\n',
    "emoji": "🙂",
    "direction": "\u202e5\u202c+y",
    "commands": "\\input{/etc/passwd}\\write18{ls}",
    "dollars": "$" * 500,
    "backslashes": "\\" * 999,
}


@ENDS
@pytest.mark.parametrize("name", representatives(list(_HOSTILE), "tower", "code", "lines"))
def test_a_hostile_answer_ends_in_time_and_the_next_is_compared(
    _ends_the_worker: None,  # noqa: PT019
    name: str,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is wrong, or not comparable, after the limit at most; it runs nothing and breaks nothing."""
    monkeypatch.chdir(tmp_path)
    with suppress(ScorerError):
        assert not _score_in_short(f"\\boxed{{{_HOSTILE[name]}}}", "5")["correct"]
    assert expressions_equal("2x", "x+x")
    assert not expressions_equal("2x", "x+1")
    assert list(tmp_path.iterdir()) == []


@ENDS
@pytest.mark.parametrize(
    "target", representatives(["9^{9^{9^9}}", "1000000000!", "(" * 900 + "1" + ")" * 900], "1000000000!")
)
def test_a_hostile_target_ends_in_time(_ends_the_worker: None, target: str) -> None:  # noqa: PT019
    """A row nobody can compute is not comparable, or bad, and the next one is."""
    with pytest.raises((ScorerError, DatasetError)):
        _score_in_short("\\boxed{x+5}", target)
    assert expressions_equal("2x", "x+x")


_REPEATED = [
    ("", "\\boxed{", ""),
    ("\\boxed{", "1", "}"),
    ("", "Answer: 4\n", ""),
    ("", "a", ""),
    ("", "1 ", ""),
    ("", "\n", ""),
    ("", "{", ""),
    ("", "$", ""),
    ("", "$1$", ""),
    ("\\boxed{", "{}", ""),
    ("", "\\boxed{1}", ""),
    ("Answer: ", "4", ""),
    ("", "* ", ""),
    ("", "Answer ", ""),
]


@ENDS
@pytest.mark.parametrize(("head", "unit", "tail"), first_rows(3, _REPEATED), ids=repr)
def test_ten_megabytes_are_scored_in_time(_ends_the_worker: None, head: str, unit: str, tail: str) -> None:  # noqa: PT019
    """A response of ten million characters is wrong, or not comparable, in seconds."""
    response = head + unit * (10_000_000 // len(unit)) + tail
    with suppress(ScorerError):
        assert not _score_in_short(response, "5")["correct"]
    assert expressions_equal("2x", "x+x")


@pytest.mark.parametrize(
    "response", ["\\boxed{", "\\boxed{5", "}}}{{{", "\\boxed{{5}", "\\boxed{5}}", "\\frac{1}{", "$5"]
)
def test_unbalanced_braces_raise_nothing(response: str) -> None:
    """Whatever the braces there is a verdict."""
    assert isinstance(_score(response, "7")["correct"], bool)


def test_the_answer_in_a_box_followed_by_a_spare_brace_is_read() -> None:
    """A brace too many after the box changes nothing."""
    assert _score("\\boxed{5}}", "5")["correct"]


def test_threads_compare_at_the_same_time() -> None:
    """Each of many threads gets its own answer."""

    def compare(number: int) -> bool:
        return expressions_equal(f"{number}x", f"x+{number - 1}x") and not expressions_equal(f"{number}x", "x")

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(compare, range(2, 42)))


def test_a_thread_behind_a_hanging_comparison_gets_its_answer(
    _ends_the_worker: None,  # noqa: PT019
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limit of one comparison is not another's."""
    line, hangs = math_answer._Worker._line, threading.Event()

    def line_within(process: subprocess.Popen[str], seconds: float) -> str:
        if threading.current_thread() is not thread or seconds > math_answer.SECONDS_MAX:
            return line(process, seconds)
        hangs.set()
        return line(process, 1.5)

    def hang() -> str:
        with pytest.raises(ScorerError) as error:
            expressions_equal("x+5", "9^{9^{9^9}}")
        return str(error.value)

    monkeypatch.setattr(math_answer._WORKER, "_line", line_within)
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(hang()))
    thread.start()
    try:
        assert hangs.wait(_HANGS_SECONDS)
        assert expressions_equal("2x", "x+x")
    finally:
        thread.join()
    assert "took longer than" in said[0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_worker_killed_while_idle_costs_no_answer(number: int) -> None:
    """Whoever comes next is compared by a new process."""
    assert expressions_equal("2x", "x+x")
    process = math_answer._WORKER._process
    assert process is not None
    os.kill(process.pid, number)
    process.wait()
    assert expressions_equal("3x", "x+2x")
    assert not expressions_equal("3x", "x+3x")


@ENDS
def test_a_worker_killed_while_it_compares_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was being compared is not comparable, which nobody waits long for; what comes next is."""
    monkeypatch.setattr(math_answer, "SECONDS_MAX", 2 * _HANGS_SECONDS)
    assert expressions_equal("2x", "x+x")
    line = math_answer._Worker._line

    def kill_and_line(process: subprocess.Popen[str], seconds: float) -> str:
        process.kill()
        return line(process, seconds)

    with monkeypatch.context() as once:
        once.setattr(math_answer._WORKER, "_line", kill_and_line)
        with pytest.raises(ScorerError):
            expressions_equal("x+5", "9^{9^{9^9}}")
    assert expressions_equal("3x", "x+2x")


def test_a_stopped_worker_starts_again() -> None:
    """Stopping twice is no error, and the next comparison starts another process."""
    math_answer._WORKER.stop()
    math_answer._WORKER.stop()
    assert expressions_equal("2x", "x+x")


def test_a_forked_process_has_a_worker_of_its_own() -> None:
    """A fork that shared the worker would read the answers to its parent's questions."""
    program = (
        "import os\n"
        "from nel.scoring.numeric import math_answer\n"
        "math_answer.expressions_equal('2x', 'x+x')\n"
        "mine = math_answer._WORKER._process.pid\n"
        "reader, writer = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    math_answer.expressions_equal('3x', 'x+2x')\n"
        "    os.write(writer, str(math_answer._WORKER._process.pid).encode())\n"
        "    math_answer._WORKER.stop()\n"
        "    os._exit(0)\n"
        "theirs = int(os.read(reader, 20))\n"
        "os.wait()\n"
        "print(mine != theirs, math_answer.expressions_equal('4x', 'x+3x'))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=250, check=False)
    assert done.stdout == "True True\n", done.stderr


def test_the_worker_ends_with_its_parent() -> None:
    """No process stays behind when the interpreter exits."""
    program = (
        "from nel.scoring.numeric import math_answer\n"
        "math_answer.expressions_equal('2x', 'x+x')\n"
        "print(math_answer._WORKER._process.pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=250, check=True)
    assert done.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_the_worker_ends_with_a_parent_that_is_killed() -> None:
    """Not even a parent that had no time to say goodbye leaves it behind."""
    program = (
        "import os, signal\n"
        "from nel.scoring.numeric import math_answer\n"
        "math_answer.expressions_equal('2x', 'x+x')\n"
        "print(math_answer._WORKER._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=250, check=False)
    end = time.monotonic() + _HANGS_SECONDS
    while _is_alive(int(done.stdout)):
        assert time.monotonic() < end, "the worker outlives its parent"
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    """Return whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_without_the_extra_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where math-verify is not installed, the install command is named; plain numbers need none of it."""
    math_answer._WORKER.stop()
    monkeypatch.setattr(math_answer, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'math-verify"):
        expressions_equal("2x", "x+x")
    assert expressions_equal("5", "5.0")


@pytest.mark.parametrize("target", ["$$", "\\", "\\text{}", "$ $"])
def test_a_target_that_is_no_expression_is_a_bad_row(target: str) -> None:
    """Marks without content are no gold answer, and the message shows them."""
    with pytest.raises(DatasetError, match="no mathematical expression"):
        _score("\\boxed{5}", target)


def test_a_benchmark_is_scored_by_mathematics() -> None:
    """In a run right, wrong and missing answers are told apart, and the rule counts as nel's own."""
    template = compile_template("{q}", name="prompt")
    benchmark = Benchmark(name="b", description="", dataset="x", prompt=template, scorer=math_equal)
    answers = ["\\boxed{\\frac12}", "Answer: 0.25", "I do not know"]
    items = [
        ScoringTask(1, idx, 0, Sample(id=str(idx), input="q", target="0.5"), Response(text=text), benchmark)
        for idx, text in enumerate(answers)
    ]
    right, wrong, missing = asyncio.run(score_all(items, timeout_seconds=120))
    assert isinstance(right, Scored)
    assert (right.reward, right.answer) == (1.0, "\\frac12")
    assert isinstance(wrong, Scored)
    assert wrong.reward == 0.0
    assert isinstance(missing, ModelFailure)
    assert missing.kind == "no_answer"
    assert is_builtin_rule(math_equal)


@pytest.mark.parametrize("joint", [", ", " and ", " or ", "; ", ", and "])
def test_two_boxes_side_by_side_are_not_the_last_one(joint: str) -> None:
    """A response with two boxes side by side gives two expressions, and neither alone is its answer."""
    sample = ScorerInput(response=rf"The solutions are \boxed{{12}}{joint}\boxed{{17}}.", target="17")
    assert math_equal(sample)["correct"] is False
