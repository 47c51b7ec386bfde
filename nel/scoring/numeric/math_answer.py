"""`math_equal`: mathematical equality of final answers: LaTeX, fractions, sets, intervals, units.

Depends on math-verify (the extra ``math``), which compares on sympy. It runs in a worker process with a hard time and
memory limit; a comparison that reaches one leaves the sample unscored, it is not a wrong answer.
"""

from __future__ import annotations

import atexit
import json
import re
import select
import subprocess
import sys
import threading
from dataclasses import replace
from importlib.util import find_spec
from typing import Final, NoReturn, TypedDict

from nel.errors import DatasetError, MissingExtra, ScorerError
from nel.scoring.numeric.latex import as_latex, in_radians
from nel.scoring.numeric.math_forms import usual_form
from nel.scoring.numeric.math_kinds import brackets, exact, is_apart, is_scaled, items, quantity, words_of
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.numeric.solutions import both_signs, solution_set
from nel.scoring.numeric.words import words_value
from nel.scoring.reading.expressions import read_expression
from nel.scoring.reading.letters import declared_label
from nel.scoring.reading.prepare import prepared
from nel.scoring.reading.run_on import read_own
from nel.scoring.text import same_text
from nel.types import ScorerInput

SECONDS_MAX: Final = 5.0
"""For one comparison; the start of the worker is not in it."""
_START_SECONDS_MAX: Final = 120.0
_CHARACTERS_MAX: Final = 2_000
_DELIMITED = re.compile(r"\$|\\\(|\\\[|\\boxed")
_SPACES = re.compile(r"(?<!\d)\s+|\s+(?!\d)|\\[,;! ]|~")
_CURRENCY = re.compile(r"\\\$|\\!")
_UNIT = re.compile(r"\\(?:text|mathrm|textrm)\s*\{\s*([A-Za-z]{1,12})\s*\}")
_BASED = re.compile(r"(?P<digits>-?[0-9A-F]+)_\{?(?:\\text\s*\{)?\s*(?P<base>\d+|[a-z]+)\s*\}{0,2}")
"""A number in another base, such as ``12_5``."""
_COLUMN = re.compile(r"\s*\\begin\{(?P<name>[pb]matrix)\}(?P<rows>[^&]*)\\end\{(?P=name)\}\s*")
"""A vector that is written as a matrix of one column."""
_ROW_ENDS = re.compile(r"\s*\\\\\s*(?=\S)")
_LETTER = re.compile(r"\\text(?:bf)?\s*\{\s*\(?(?P<label>[A-J])\)?\s*\}")
"""The letter of an option."""
_NONE = re.compile(
    r"(?:\\boxed\s?\{\s*(?:\\text\s?\{)?|\banswer[*_]*(?:\sis|:)[*_\s]*)\s*none\.?[\s}$.*_\])]*\Z", re.IGNORECASE
)
"""The answer "None", which means that there is no solution where the target is that."""
_NONE_MAX: Final = 200
_NOT_DECIMAL = re.compile(r"[/^\\½⅓⅔¼¾⁰-⁹²³¹]")


class _Reply(TypedDict, total=False):
    """What the worker replies: a comparison, or an error alone."""

    error: str
    equal: bool
    gold: bool
    """Whether the target is an expression."""
    given: str | None
    """The expression that was found in the answer."""


def math_equal(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the final answer of a response with the target as mathematics.

    Rule: the expression that the response declares last, in a box or otherwise, and does not deny, suppose or take
    back; where it declares none, the one that its last sentence comes to. Several candidates, a cut-off text and an
    open box are no answer. Two plain numbers are compared exactly; ``1/2``, ``0.5`` and ``\\\\frac12`` are equal, and
    so are ``{1,2}`` and ``{2,1}``; ``(0,1]`` is not ``(0,1)``, and ``12_5`` is not ``12``, while 12 is enough where
    ``12_5`` is the target. A set is no tuple, a bound
    (``\\\\ge 2``), an approximation no number, 2 million is not 2, and 5 m is not 5 cm; a unit may be left out. An
    inequality is the interval of its solutions: ``x \\\\le 2`` is ``(-\\\\infty, 2]``; several solutions may stand in
    any order.
    Irrational and long decimals agree when six decimals do. Source: math-verify.

    Returns:
        ``correct``, ``parsed`` and ``extracted``, the answer as written or None.

    Raises:
        DatasetError: The target is no mathematical expression.
        MissingExtra: The extra ``math`` is not installed.
        ScorerError: The comparison takes longer than `SECONDS_MAX` or more memory than there is.

    >>> math_equal(ScorerInput(response="So it is $\\\\boxed{\\\\frac{1}{2}}$.", target="0.5"))
    {'correct': True, 'parsed': True, 'extracted': '\\\\frac{1}{2}'}
    """
    gold = "" if sample.target is None else str(sample.target).strip()
    if not gold:
        raise DatasetError("the target is empty; give the row an answer to compare with")
    if isinstance(sample.target, (list, tuple)):
        found = [math_equal(replace(sample, target=target)) for target in sample.target]
        return next((one for one in found if one["correct"]), found[0]) if found else _no_target()
    extracted, ran_on = read_own(sample, final_expression)
    if extracted is None and same_text(whole := prepared(sample.response or "").strip(), gold):
        return {"correct": True, "parsed": True, "extracted": whole, **ran_on}
    if (
        extracted is None
        and usual_form(gold, "") == "\\emptyset"
        and _NONE.search((sample.response or "")[-_NONE_MAX:])
    ):
        return {"correct": True, "parsed": True, "extracted": "None", **ran_on}
    if extracted is None and (letter := _LETTER.fullmatch(gold)) is not None:
        label = declared_label(sample.response or "", "ABCDEFGHIJ")
        return {"correct": label == letter["label"], "parsed": label is not None, "extracted": label, **ran_on}
    if extracted is None:
        return {"correct": False, "parsed": False, "extracted": None, **ran_on}
    return {"correct": expressions_equal(gold, extracted), "parsed": True, "extracted": extracted, **ran_on}


def expressions_equal(gold: str, given: str) -> bool:
    """Return whether two expressions mean the same; see `math_equal` for the rule and the errors.

    >>> expressions_equal("10", "100"), expressions_equal("\\\\sqrt{8}", "2\\\\sqrt2")
    (False, True)
    """
    gold, given = usual_form(gold, given), usual_form(given, gold)
    if _is_written_alike(gold, given):
        return True
    quantities = quantity(gold), quantity(given)
    if None not in (quantities[0].unit, quantities[1].unit) and quantities[0].unit != quantities[1].unit:
        return False
    units = _units(gold), _units(given)
    if all(units) and units[0] != units[1] and quantities[0].unit is None:
        return False
    gold, given = (as_latex(_CURRENCY.sub("", one.value).strip()) for one in quantities)
    gold, given = in_radians(gold, given), in_radians(given, gold)
    if is_scaled(gold, given):
        return True
    gold, exactly = solution_set(gold), exact(gold, solution_set(given))
    if exactly is None or is_apart(gold, exactly):
        return False
    if "\\pm" in gold + exactly:
        gold, exactly = both_signs(gold), both_signs(exactly)
    return _values_equal(gold, exactly)


def _is_written_alike(gold: str, given: str) -> bool:
    """Return whether two expressions differ in spaces, signs and fonts alone, or are the same words."""
    left, right = (_SPACES.sub("", as_latex(text)).strip("$") for text in (gold, given))
    if left == right:
        return exact(gold, given) == given and not is_apart(gold, given)
    words = words_of(gold)
    return words is not None and same_text(words_of(given) or "", words)


def _values_equal(gold: str, given: str) -> bool:
    """Return whether two expressions without units and approximations are equal."""
    if _SPACES.sub("", gold) == _SPACES.sub("", given):
        return True
    if {_sequence(gold), _sequence(given)} in ({"tuple", "list"}, {"tuple", "column"}):
        pairs = items(_as_tuple(gold)), items(_as_tuple(given))
        return len(pairs[0]) == len(pairs[1]) and all(map(expressions_equal, *pairs))
    based = _BASED.fullmatch(gold), _BASED.fullmatch(given)
    if any(based):
        return _same_in_base(gold, given, *based)
    numbers = parse_number(gold), parse_number(given)
    if ("%" in gold) != ("%" in given):
        share, other = numbers if "%" in gold else (numbers[1], numbers[0])
        if share is not None and other is not None and share / 100 == other:
            return True
    elif "%" not in gold + given and None not in numbers:
        if numbers[0] == numbers[1]:
            return True
        if not _NOT_DECIMAL.search(gold + given):
            return False  # two different decimals need no sympy
    if len(given) > _CHARACTERS_MAX:
        return False
    return bool(_compare(gold, given)["equal"])


def _sequence(text: str) -> str | None:
    return "column" if _COLUMN.fullmatch(text) else brackets(text)


def _as_tuple(text: str) -> str:
    """Return the entries of a column as a tuple, and anything else as it is."""
    column = _COLUMN.fullmatch(text)
    return text if column is None else f"({','.join(_ROW_ENDS.split(column['rows'].strip()))})"


def _units(text: str) -> list[str]:
    """Return the units that stand after a number: ``5\\text{ cm}``."""
    return _UNIT.findall(text) if text[:1].isdigit() or text[:1] == "-" else []


def _same_in_base(gold: str, given: str, *based: re.Match[str] | None) -> bool:
    """Return whether two numbers are equal one of which names its base; digits alone are in the base of the target."""
    if all(based):
        return _number_of_base(based[0]) == _number_of_base(based[1])
    if based[0] is not None:
        return _number_of_base(based[0])[0] == given.strip()
    return _number_of_base(based[1]) == (gold.strip(), "10")


def _number_of_base(match: re.Match[str] | None) -> tuple[str, str]:
    """Return the digits and the base of a number, the base as a numeral: ``12_{\\text{five}}``."""
    return ("", "") if match is None else (match["digits"], str(words_value(match["base"]) or match["base"]))


def _no_target() -> NoReturn:
    raise DatasetError("the target is an empty list; give the row an answer to compare with")


def final_expression(text: str) -> str | None:
    """Return the expression that a response gives as its answer, or None; see `read_expression` for how it is found.

    >>> final_expression("so \\\\boxed{\\\\frac{1}{2}}"), final_expression("Answer: $x + 1$.")
    ('\\\\frac{1}{2}', 'x + 1')
    """
    return read_expression(text).value


def _compare(gold: str, given: str) -> _Reply:
    """Return the worker's comparison."""
    reply = _WORKER.ask({"gold": _delimited(gold), "given": _delimited(given)})
    if "error" in reply:
        raise ScorerError(f"{given[:80]!r} cannot be compared with {gold[:80]!r}: {reply['error']}")
    if not reply["gold"]:
        raise DatasetError(f"the target {gold[:80]!r} is no mathematical expression; compare it with exact_match")
    return reply


def _delimited(text: str) -> str:
    return text if _DELIMITED.search(text) else f"${text}$"


class _Worker:
    """The worker process; started when it is first needed, and restarted after it was stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def ask(self, request: dict[str, str]) -> _Reply:
        """Return the reply to one request; requests of several threads are served one after the other.

        Raises:
            ScorerError: It takes too long, or the process died of it.
        """
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                self.stop()  # it died between two requests, such as by the system's out-of-memory killer
            process = self._process or self._start()
            try:
                process.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
                line = self._line(process, SECONDS_MAX)
            except (OSError, ValueError):
                line = ""
            if not line:
                self.stop()
                what = f"took longer than {SECONDS_MAX:g} s or too much memory"
                raise ScorerError(f"comparing {request['given'][:80]!r} with {request['gold'][:80]!r} {what}")
            reply: _Reply = json.loads(line)
            return reply

    def stop(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        if find_spec("math_verify") is None:
            raise MissingExtra("math_equal needs math-verify; install it with: pip install 'math-verify[antlr4_13_2]'")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "nel.scoring.numeric.math_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        if not self._line(self._process, _START_SECONDS_MAX):
            self.stop()
            raise ScorerError(
                "the process that compares expressions does not start; for the cause run: "
                "python -c 'import math_verify'"
            )
        return self._process

    @staticmethod
    def _line(process: subprocess.Popen[str], seconds: float) -> str:
        output = process.stdout
        return output.readline() if output is not None and select.select([output], [], [], seconds)[0] else ""


_WORKER: Final = _Worker()
atexit.register(_WORKER.stop)
