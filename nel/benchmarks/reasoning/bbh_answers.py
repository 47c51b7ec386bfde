"""How an answer to a problem of BIG-Bench Hard is read: by the form of its gold answer, as nel's other scorers read it.

A letter is read among the problem's options, a decision, a number and a verdict on an argument in any of the forms that
models give them. Brackets and lists of words have readers here: what "the answer is" introduces, on its line or below;
else the words of the problem in a row, or brackets on a line of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from nel.benchmarks.reasoning.bbh_restated import read_validity, restated
from nel.scoring.numeric.numbers import numbers_equal
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
_GOES_ON: Final = re.compile(r"[.!?]\s++\w|\n[^\S\n]*+\w")
_CLOSES: Final = frozenset(".!?)]}>*_`\"'”’$。✅")
"""What a response that is whole ends with, unless it is nothing but the answer."""
_WRAPPING: Final = " \t*_`$\"'“”"
_BRACKETS: Final = frozenset("()[]{}<>")
_BETWEEN_BRACKETS: Final = re.compile(r"[\s,;.`\"'“”$*_]|\\(?=[{}])")
_BOX_OF_BRACKETS: Final = re.compile(
    r"\\boxed\{(?:\\(?:text|texttt|mathtt|mathrm)\s?\{(?P<set>[\s()\[\]{}<>\\]+)\}|(?P<plain>[\s()\[\]{}<>\\]+))\}[\s.$]*$",
    re.MULTILINE,
)
_TAGS: Final = re.compile(r"</?[A-Za-z_]{1,20}>")
_CLOSERS: Final = re.compile(
    r"(?<![\w\-=+(\[{<])[)\]}>](?:(?:[\s,`'\"“”‘’*$]|\\(?=[}])|(?<=[\s,`'\"])and(?=[\s`'\"]))*[)\]}>])*(?![\w])"
)
"""Closing brackets in a row, with at most separators and emphasis between."""
_GIVEN_BRACKETS: Final = re.compile(r"(?m)\bInput:[^\S\n]*([\[\](){}<>][\[\](){}<>\s]*?)\s*$")
"""The brackets that a problem asks to close."""
_BRACKETS_IN_A_ROW: Final = re.compile(r"(?:(?:[\[\](){}<>]|\\[{}])[\s,`'\"$*]*)+")
_PAIRS: Final = dict(zip("([{<", ")]}>", strict=True))
_GIVES_BRACKETS: Final = re.compile(
    r"\b(?:clos\w+|remain\w*|rest|complet\w+|missing|need\w*|answer|sequence|result|output|add(?:ing|ed)?|append\w*)\b",
    re.IGNORECASE,
)
"""Words of a sentence that gives the brackets asked for."""
_FENCE: Final = re.compile(r"\s*```\w*\s*\n")
_TAIL_MAX: Final = 4_000
"""Characters at the end of a response in which a row of words is looked for."""
_BEHIND_MAX: Final = 120
_ROW_BEGINS: Final = re.compile(
    r"(?:\A|[:：\n|\]>]|\b(?:is|are|have|get))[\s*_`$\"'“‘(\[{\\.-]*(?:(?:\d{1,3}|[a-z])[.):|\s]*)?[\s*_`$\"'“‘(\[{|\\]*\Z"
)
_ROW_ENDS: Final = re.compile(r"[ \t\"'”’\])}*_`$|\\]*(?:[.;!\n(—–]|\Z)")
"""What may stand around a row of words: no further word that would belong to it."""
_ITEM: Final = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+(.+)")
_TEX_SPACE: Final = re.compile(r"\\(?:[,;:! ]|q?quad\b)")
_TOKEN: Final = re.compile(r"[^\W_]+(?:[-'’.&/][^\W_]+)*")
_ENUMERATOR: Final = re.compile(r"\d{1,3}|[a-z]|and|then")
"""Tokens between the words of a list that only number or join them."""
_NOT_WORDS: Final = re.compile(r"[,;>\"<|→]+|->|(?<!\w)['‘’]|['‘’](?!\w)|^\[|\]$")
_LAST_AND: Final = re.compile(r",\s+and\s+")
_COMMAND: Final = re.compile(r"\\(?:text|mathrm|texttt|textbf)\s*\{([^{}]*)\}")
_REMARK: Final = re.compile(r"\s+\([^()]*\s[^()]*\)$")
_TYPICAL: Final = re.compile(
    r"\b(?:a|the|most)?\s*(?:(?:typical|average|ordinary|reasonable)\s+)?(?:person|people)\s+would\s+(?:most\s+|very\s+)?"
    r"(?:likely\s+|probably\s+|typically\s+|generally\s+|usually\s+)?(?:say|answer|respond|conclude)(?:\s+with)?\b",
    re.IGNORECASE,
)
"""What "How would a typical person answer?" is answered with."""
_TRUTH: Final = {"yes": "True", "no": "False"}


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
        decided = _stated(read_decision(text), text, may_mention=True) or restated(response, problem)
        return _TRUTH.get(decided or "") if gold.casefold() in {"true", "false"} else decided
    if gold in {"valid", "invalid"}:
        return read_validity(response)
    if numbers_equal(gold, gold):
        return read_number(response).value
    if is_brackets(gold):
        return completion(response, problem) or _brackets(response)
    return _words(response, problem)


def _stated(reading: Reading, text: str, *, may_mention: bool) -> str | None:
    """Return what was read, unless it is said in passing by reasoning that goes on after it or is cut off.

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
    response = _TAGS.sub(" ", response)
    boxes = _BOX_OF_BRACKETS.findall(response)
    if boxes and _ANSWER_IS.search(response) is None:
        return str(boxes[-1][0] or boxes[-1][1]).strip()
    declared = declared_answer(response)
    if declared is not None and is_brackets(_BETWEEN_BRACKETS.sub("", declared)):
        return declared
    alone = [line for line in response.splitlines() if is_brackets(_BETWEEN_BRACKETS.sub("", line))]
    if alone and declared is None:
        return alone[-1].strip()
    is_declared = declared is not None and _ANSWER_IS.search(response) is not None
    is_whole = is_declared or response.rstrip()[-1:] in _CLOSES
    row = _row_of_brackets(declared or response, is_declared=is_declared) if is_whole else None
    return row or _items_of_brackets(response) or declared


def completion(response: str, problem: str) -> str | None:
    """Return what a response adds to the brackets of a problem, where its answer repeats them and closes them all.

    >>> completion("So the answer is [ ( ) ].", "Input: [ ("), completion("So the answer is ( ) ].", "Input: [ (")
    (') ]', None)
    """
    given = _GIVEN_BRACKETS.search(problem)
    declared = declared_answer(response) if given else None
    lines = [line for line in response.splitlines() if any(mark in _BRACKETS for mark in line)]
    for part in (declared, lines[-1] if lines else None):
        if given is None or part is None:
            continue
        rows = [_BETWEEN_BRACKETS.sub("", row) for row in _BRACKETS_IN_A_ROW.findall(part)]
        added = rows[-1].removeprefix(_BETWEEN_BRACKETS.sub("", given[1])) if rows else ""
        if added and added != rows[-1] and _is_balanced(rows[-1]):
            return " ".join(added)
    return None


def _is_balanced(brackets: str) -> bool:
    open_ones: list[str] = []
    for mark in brackets:
        if mark in _PAIRS:
            open_ones.append(_PAIRS[mark])
        elif not open_ones or open_ones.pop() != mark:
            return False
    return not open_ones


def _row_of_brackets(text: str, *, is_declared: bool) -> str | None:
    """Return the only row of closing brackets in the last line that has one and says what it is, or None.

    A row that goes on from opening ones is the whole sequence, and not the rest that is asked for.
    """
    for line in reversed(text.rstrip().splitlines()):
        rows = list(_CLOSERS.finditer(line))
        if rows:
            row = str(rows[0][0])
            before = _BETWEEN_BRACKETS.sub("", line[: rows[0].start()])
            says_so = is_declared or _GIVES_BRACKETS.search(line) is not None
            is_given = len(rows) == 1 and says_so and before[-1:] not in tuple("([{<")
            return str(_BETWEEN_BRACKETS.sub("", row.replace("and", ""))) if is_given else None
    return None


def _items_of_brackets(response: str) -> str | None:
    """Return the brackets that are the items of a list, one each, or None."""
    items = [found[1] for found in map(_ITEM.fullmatch, response.splitlines()) if found]
    plain = [_BETWEEN_BRACKETS.sub("", item) for item in items]
    return " ".join(plain) if plain and all(is_brackets(item) for item in plain) else None


def _words(response: str, problem: str) -> str | None:
    found = _LIST.search(problem)
    given = tuple(words(found[1])) if found else ()
    declared = declared_answer(response)
    if declared is not None:
        return _in_order(declared, given) or declared
    runs = [run for run in _runs(response, frozenset(given)) if 2 * len(run) > len(given)]
    if runs:
        return " ".join(runs[-1])
    ordered = _in_order(response, given) if response.rstrip()[-1:] in _CLOSES or "\n" in response else None
    if ordered is not None:
        return ordered
    text = read_text(response).value
    return text if text is None or not given or frozenset(given).issuperset(words(text)) else None


def _in_order(text: str, given: tuple[str, ...]) -> str | None:
    """Return all given words as a text ends with them in a row, an order before the given one; or None.

    Numbers of items, "and" and what LaTeX, JSON and Markdown put around words may stand between them, and a short
    sentence with none of them after it. A row in the midst of reasoning is none.
    """
    plain = _COMMAND.sub(r" \1 ", _TAGS.sub(" ", _TEX_SPACE.sub(" ", text))).casefold()
    wanted, n = Counter(given), len(given)
    if n < 2 or any(_TOKEN.fullmatch(word) is None for word in given):  # noqa: PLR2004 - one word has no order
        return None
    found = list(_TOKEN.finditer(plain, max(0, len(plain) - _TAIL_MAX)))
    tokens = [token for token in found if token[0] in wanted or not _ENUMERATOR.fullmatch(token[0])]
    last = next((place for place in range(len(tokens), 0, -1) if tokens[place - 1][0] in wanted), 0)
    rows = [tokens[end - n : end] for end in (last, last - n) if end >= n]
    ordered = [row for row in rows if _is_row(plain, row, wanted)]
    if not ordered or ordered[0] is not rows[0]:
        return None
    first, end = rows[0][0].start(), rows[0][-1].end()
    is_apart = _ROW_BEGINS.search(plain, max(0, first - _BEHIND_MAX), first) and _ROW_ENDS.match(plain, end)
    if not is_apart or len(plain) - end > _BEHIND_MAX:
        return None
    words_found = [tuple(token[0] for token in row) for row in ordered]
    return " ".join(next((row for row in words_found if row != given), words_found[0]))


def _is_row(text: str, row: list[re.Match[str]], wanted: Counter[str]) -> bool:
    """Return whether tokens are the wanted words with nothing open between them: no "?" and no nested lists."""
    between = text[row[0].start() : row[-1].end()]
    return Counter(token[0] for token in row) == wanted and "?" not in between and "[" not in between


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

    In this order: after the last "the answer is", on its line or below it; in a box; after ``Answer:``; or a response
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
    if not is_brackets(_BETWEEN_BRACKETS.sub("", found)):
        box = _BOX_OF_BRACKETS.search(found)
        found = (box["set"] or box["plain"]) if box else last_boxed(found) or found
    found = _COMMAND.sub(r"\1", _NEXT_SENTENCE.split(found)[0])
    found = found.strip(_WRAPPING).removesuffix(".").strip(_WRAPPING)
    return _REMARK.sub("", found) or None


def _introduced(rest: str) -> str | None:
    """Return what stands after "the answer is": on its line, else a line, a block or the items of a list below."""
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
