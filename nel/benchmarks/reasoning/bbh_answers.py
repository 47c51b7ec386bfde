"""How an answer to a problem of BIG-Bench Hard is read: by the form of its gold answer, as nel's other scorers read it.

A letter is read among the problem's options, a decision, a number and a verdict on an argument in any of the forms that
models give them. Brackets and lists of words have readers here: what "the answer is" introduces, on its line or below;
else the words of the problem in a row, or brackets on a line of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nel.scoring.numeric.numbers import numbers_equal
from nel.scoring.reading.categories import read_category
from nel.scoring.reading.letters import labels_for, read_labels
from nel.scoring.reading.numbers import read_number
from nel.scoring.reading.result import Reading
from nel.scoring.reading.texts import read_text
from nel.scoring.reading.yes_no import read_decision
from nel.scoring.text import answer_after_marker
from nel.scoring.wording import last_boxed

_ANSWER_IS: Final = re.compile(
    r"(?:(?:the|final|correct)\s+answer|(?:sorted|ordered|closing|missing|remaining)[\w ]{0,40})\s+(?:is|are):?[*_]*"
    r"[^\S\n]*|final\s+answer[*_]*:[*_]*[^\S\n]*",
    re.IGNORECASE,
)
_NEXT_SENTENCE = re.compile(r"\.\s+(?=[A-Z])")
_LETTER: Final = re.compile(r"\(([A-Z])\)")
_OPTION: Final = re.compile(r"(?m)^\(([A-Z])\) (.*)$")
_LIST: Final = re.compile(r"(?m)\bList: *(.+)$")
_MENTIONED: Final = "the only one mentioned"
"""The rule of a reading that found an answer in passing."""
_SAID: Final = frozenset({"chosen in a sentence", "said plainly"})
"""Rules of readings that found an answer which no words declare."""
_GOES_ON: Final = re.compile(r"[.!?]\s+\w|\n\s*\w")
_CLOSES: Final = frozenset(".!?)]}>*_`\"'”’$。✅")
"""What a response that is whole ends with, unless it is nothing but the answer."""
_WRAPPING: Final = " \t*_`$\"'“”"
_BRACKETS: Final = frozenset("()[]{}<>")
_BETWEEN_BRACKETS: Final = re.compile(r"[\s,;.`\"'“”$*_]|\\(?=[{}])")
_BOX_OF_BRACKETS: Final = re.compile(r"\\boxed\{([\s()\[\]{}<>\\]+)\}[\s.$]*$")
_FENCE: Final = re.compile(r"\s*```\w*\s*\n")
_ITEM: Final = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+(.+)")
_NOT_WORDS: Final = re.compile(r"[,;>\"<|→]+|->|(?<!\w)['‘’]|['‘’](?!\w)|^\[|\]$")
_LAST_AND: Final = re.compile(r",\s+and\s+")
_COMMAND: Final = re.compile(r"\\(?:text|mathrm|texttt|textbf)\s*\{([^{}]*)\}")
_REMARK: Final = re.compile(r"\s+\([^()]*\s[^()]*\)$")
_TYPICAL: Final = re.compile(
    r"\b(?:a|the|most)\s+(?:typical|average|ordinary|reasonable)?\s*(?:person|people)\s+would\s+(?:most\s+|very\s+)?(?:likely\s+|probably\s+)?(?:say|answer|respond|conclude)(?:\s+with)?\b",
    re.IGNORECASE,
)
"""What "How would a typical person answer?" is answered with."""
_TRUTH: Final = {"yes": "True", "no": "False"}
_VALIDITY: Final = {
    f"{denied}{how}{word}": verdict
    for how in ("", "deductively ", "logically ", "formally ")
    for denied, word, verdict in (
        ("", "valid", "valid"),
        ("", "invalid", "invalid"),
        ("not ", "valid", "invalid"),
        ("not ", "invalid", "valid"),
    )
}
"""What an argument can be called."""


def read_answer(response: str, gold: str, problem: str = "") -> str | None:
    """Return the answer that a response gives, in the form that the gold answer has, or None.

    Args:
        problem: The question, whose options or words a response may repeat.

    >>> read_answer("The correct option is (B).", "(A)"), read_answer("It evaluates to: False", "True")
    ('(B)', 'False')
    >>> read_answer("The argument is not deductively valid.", "valid"), read_answer("There are 8 pianos.", "8")
    ('invalid', '8')
    >>> read_answer("So the answer is:\\n- ant\\n- bee", "ant bee"), read_answer("So the answer is: ] )", "]")
    ('ant bee', '] )')
    """
    gold = gold.strip()
    if _LETTER.fullmatch(gold):
        options = [text for _, text in _OPTION.findall(problem)]
        read = read_labels(response, labels_for(len(options) or 26), options or None)
        letter = _stated(read, response, may_mention=False)
        return None if letter is None or "," in letter else f"({letter})"
    if gold.casefold() in {"yes", "no", "true", "false"}:
        text = _TYPICAL.sub("the answer is", response) if "typical person" in problem else response
        decided = _stated(read_decision(text), text, may_mention=True)
        return _TRUTH.get(decided or "") if gold.casefold() in {"true", "false"} else decided
    if gold in {"valid", "invalid"}:
        return _VALIDITY.get(read_category(response, tuple(_VALIDITY)).value or "")
    if numbers_equal(gold, gold):
        return read_number(response).value
    if is_brackets(gold):
        return _brackets(response)
    return _words(response, problem)


def _stated(reading: Reading, text: str, *, may_mention: bool) -> str | None:
    """Return what was read, unless it is said in passing by reasoning that goes on behind it or is cut off.

    Args:
        may_mention: What is only mentioned counts where the response ends with it.
    """
    behind = text[reading.end :].strip(_WRAPPING + ".)}\\")
    if reading.rule == _MENTIONED:
        return reading.value if may_mention and not behind else None
    goes_on = _GOES_ON.search(text, reading.end) is not None
    is_passing = reading.rule in _SAID and goes_on and text.rstrip()[-1] not in _CLOSES
    return None if is_passing else reading.value


def same_answer(answer: str, gold: str) -> bool:
    """Return whether an answer is the gold one, in the way that its form asks for.

    ``True``, ``yes`` and ``valid`` compare without case; numbers by value; brackets without spaces; words of a list
    with spaces, commas or arrows between them.

    >>> same_answer("no", "No"), same_answer("7.0", "7"), same_answer("(B)", "(A)")
    (True, True, False)
    >>> same_answer("] } )", "]})"), same_answer("apple, bear", "apple bear"), same_answer("invalid", "valid")
    (True, True, False)
    """
    gold = gold.strip()
    if is_brackets(gold):
        return _BETWEEN_BRACKETS.sub("", answer) == _BETWEEN_BRACKETS.sub("", gold)
    if numbers_equal(gold, gold):
        return numbers_equal(answer, gold)
    return words(answer) == words(gold)


def is_brackets(text: str) -> bool:
    """Return whether a text is nothing but brackets."""
    return bool(text) and set(text) <= _BRACKETS | {" "}


def words(text: str) -> list[str]:
    """Return the words of a list without what separates them."""
    return _NOT_WORDS.sub(" ", _LAST_AND.sub(", ", text.casefold().strip())).split()


def _brackets(response: str) -> str | None:
    declared = declared_answer(response)
    if declared is not None and is_brackets(_BETWEEN_BRACKETS.sub("", declared)):
        return declared
    alone = [line for line in response.splitlines() if is_brackets(_BETWEEN_BRACKETS.sub("", line))]
    return alone[-1].strip() if alone and declared is None else declared


def _words(response: str, problem: str) -> str | None:
    declared = declared_answer(response)
    if declared is not None:
        return declared
    found = _LIST.search(problem)
    given = frozenset(words(found[1])) if found else frozenset[str]()
    runs = [run for run in _runs(response, given) if 2 * len(run) > len(given)]
    if runs:
        return " ".join(runs[-1])
    text = read_text(response).value
    return text if text is None or not given or given.issuperset(words(text)) else None


def _runs(response: str, given: frozenset[str]) -> Iterator[list[str]]:
    """Yield the words of a problem that stand in a row, on one line or as the items of a list."""
    items: list[str] = []
    for line in [*response.splitlines(), ""]:
        item = _ITEM.fullmatch(line)
        if item and words(item[1].strip(_WRAPPING))[:1] and words(item[1].strip(_WRAPPING))[0] in given:
            items += words(item[1].strip(_WRAPPING))[:1]
            continue
        if items and line.strip():
            yield items
            items = []
        row = [word for word in words(line.rpartition(":")[2].strip(_WRAPPING).removesuffix(".")) if word != "and"]
        if row and given.issuperset(row):
            yield row
    if items:
        yield items


def declared_answer(response: str) -> str | None:
    """Return what a response declares as its answer, or None.

    In this order: behind the last "the answer is", on its line or below it; in a box; behind ``Answer:``; or a response
    of one line, which is how models reply to examples without reasoning.

    >>> declared_answer("First ... So the answer is **] )**."), declared_answer("Answer: ant bee"), declared_answer("]")
    ('] )', 'ant bee', ']')
    >>> declared_answer("So the answer is:\\n1. ant\\n2. bee"), declared_answer("First, ...\\nThen, ...")
    ('ant bee', None)
    """
    last = None
    for last in _ANSWER_IS.finditer(response):  # noqa: B007 - the last one is wanted
        pass
    found = _introduced(response[last.end() :]) if last else last_boxed(response) or answer_after_marker(response)
    if found is None and not last:
        found = _only_line(response)
    if found is None:
        return None
    box = _BOX_OF_BRACKETS.search(found)
    found = found if is_brackets(_BETWEEN_BRACKETS.sub("", found)) else box[1] if box else last_boxed(found) or found
    found = _COMMAND.sub(r"\1", _NEXT_SENTENCE.split(found)[0])
    found = found.strip(_WRAPPING).removesuffix(".").strip(_WRAPPING)
    return _REMARK.sub("", found) or None


def _introduced(rest: str) -> str | None:
    """Return what stands behind "the answer is": on its line, else a line, a block or the items of a list below."""
    line, _, below = rest.partition("\n")
    if line.strip(_WRAPPING + ":."):
        return line
    below = _FENCE.sub("", "\n" + below, count=1) if _FENCE.match("\n" + below) else below
    block = below.strip("\n").partition("\n\n")[0].splitlines()
    items = [found[1].strip(_WRAPPING) for found in map(_ITEM.fullmatch, block) if found]
    if items:
        return " ".join(items)
    plain = [text.strip(_WRAPPING).removesuffix(".") for text in block if text.strip(_WRAPPING)]
    is_column = len(plain) > 1 and all(" " not in text for text in plain)
    return " ".join(plain) if is_column else next(iter(plain), None)


def _only_line(response: str) -> str | None:
    line = response.strip()
    return None if "\n" in line or line.endswith((":", "?")) else line
