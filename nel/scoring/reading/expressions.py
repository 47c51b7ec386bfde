"""Mathematical answers: finds the expression that a response gives as its answer, or says that it gives none.

The response is read as `nel.scoring.reading.texts` reads short texts, with a word in place of each formula
(`nel.scoring.reading.formulas`). Beside what that reader takes, a sentence that comes to a result counts ("We obtain
…", "This simplifies to …"); a step on the way, such as an intermediate result or a calculation on a line of its own,
does not.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import clauses, declaring
from nel.scoring.reading.formulas import WORD, Masked, closing_brace, formula_in, masked
from nel.scoring.reading.result import Reading
from nel.scoring.reading.run_on import before_next_question
from nel.scoring.reading.search import ALONE, DECLARED, SAID, Found
from nel.scoring.reading.solution_lists import with_lists
from nel.scoring.reading.status import is_plain
from nel.scoring.reading.texts import TextSearch
from nel.scoring.reading.wrappers import is_placeholder

_TAIL_MAX: Final = 20_000
"""Characters at the end of a response that are looked at."""
_LAST_MAX: Final = 600
"""Those that are looked at first; most responses declare their answer there."""
_PARAGRAPH_MAX: Final = 400
_LINE_MAX: Final = 300
_DECLARED_LINE: Final = lazy_pattern(
    r"""
    [\s*_]*+ (?: \#{4} | (?:(?:the|my)\ )? (?:final\ )? answer [*_]* (?: \ ?:[*_]* | \ is:? ) \ ?[*_]* ) [^\S\n]*
    (?P<value> [^\s:*_$`"'“<#{|\]] (?: [^$`"“\n|]* [^\s.,*_$`"'“] )? | [\d.] ) [.*_\s]*
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A line that declares what stands behind it: "Answer: …", "The final answer is …", ``#### …``."""
_NO_SOLUTION: Final = lazy_pattern(
    r"(?:there\s(?:is|are|exists?)\s)?no\s(?:(?:real|integer|valid|possible|such)\s)*(?:solutions?|values?|roots?|numbers?)"
    r"(?:\sexists?)?",
    re.IGNORECASE,
)
_HAS_NONE: Final = lazy_pattern(
    r"""
    (?: \A | \n | [.!]\s ) [\W_]* (?: (?:so|thus|hence|therefore|consequently),? \s )?
    (?: (?:the|this|our) \s (?:(?:given|original)\s)? (?:equation|system|inequality|problem) \s has
      | there \s (?:is|are|exists?)
      | (?:the|our) \s (?:final\s)? answer \s is:? ) \s [*_]*
    (?P<value> no \s (?:(?:real|integer|valid|possible)\s)* solutions?
        (?:\s(?:exists?|to\sthe\s(?:equation|system|inequality)))? )
    [\s.*_]* \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The last sentence of a response where it says that there is no solution."""
_SAYS_SOMETHING: Final = lazy_pattern(r"[^\W_]|[∞∅]")
_DELIMITER: Final = lazy_pattern(r"\\[()\[\]]|\\f?box")
_TEX_WORDS: Final = lazy_pattern(r"\\(?:text\w*|mathrm|mathbf|operatorname)\s*\{[^{}]*\}|\\[A-Za-z]+")
_WORD_RUN: Final = lazy_pattern(r"[^\W\d_]{2,}")
_LINE_WORDS: Final = frozenset(
    "or and sin cos tan cot sec csc log ln exp sqrt pi infty arcsin arccos arctan min max gcd lcm mod AB AC BC".split()
)
"""Words that an expression without delimiters may hold."""
_EITHER: Final = lazy_pattern(r"\bor\b")
_COMPARES: Final = lazy_pattern(r"[=<>≤≥]|\\[lg](?:eq?|t)(?![a-z])")
"""What two solutions have, and two guesses have not: "x = 1 or x = 2"."""
_ENDS_TEXT: Final = lazy_pattern(r"[\s$.*}]*(?:\\[)\]][\s$.*]*)?\Z")
STEP: Final = "a step"
_STEP: Final = lazy_pattern(
    r"""
      \b (?: step\ \w+ | intermediate | auxiliary | discriminant | (?:upper|lower)\ bound | coefficients? | constants?
        | (?: first | second | third | other | next | previous | each | one ) \s (?: part | step | term | case | factor
          | half | method | summand )
        | substitut\w+ | expanding | differentiat\w+ | for\ (?:example|instance) | let | denot\w+ | note\ that | recall
        | identity | by\ definition | we\ need\ below | excluded | verified | left-hand\ side | right-hand\ side )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words of a sentence that states a result on the way, and not the answer."""
_PASSING: Final = lazy_pattern(
    r"\b(?:intermediate|auxiliary|preliminary|partial|subtotal|(?:first|previous)\s(?:part|step|case|half|term)(?:\s(?:is|gives|"
    r"comes\s\w+|yields)|:)|step\s\d+\s(?:is|gives|yields))(?!\w)",
    re.IGNORECASE,
)
"""Words before a declared result that is one on the way."""
_PASSING_BEHIND: Final = lazy_pattern(
    r"[\s$*_)\]}]*,?\s*(?:which\swe\sneed|as\san\s(?:intermediate|auxiliary)|(?:for|of|in)\s(?:the\s)?(?:first|previous)\s(?:part|step|"
    r"case|half|term)|is\s(?:only\s)?(?:that\sof\sthe|an?)\s(?:first|intermediate|auxiliary))\b",
    re.IGNORECASE,
)
"""The same after it."""
_RESULT: Final = rf"""
    [\s:：*_"'“„‘«「`(]*+ (?P<value> {WORD} | [-−]?\d+(?:[.,/]\d+)* ) [\s*_"'”“’»」`)]*+
"""
_UNIT: Final = r"""
    (?P<unit> \s? (?: (?:square|cubic)\s (?:units?|[a-z]{1,12}) | sq\.?\s[a-z]{1,6} | units?(?:\^[23])? | [cdkm]?m[²³]?
      | in | ft[²³]? | degrees? | ways | (?:different|distinct|possible|such)\s[a-z]{3,14} | [°%] | \\%
      | dollars | percent | radians ) (?![a-z]) )?
"""
"""The unit after a result, in the last sentence of a response; elsewhere it is of an amount on the way."""
_COMES_TO: Final = lazy_pattern(
    rf"""
    (?:
        (?: we | one | i | this | that | it | which | and ) \s (?: then\s | therefore\s | thus\s | finally\s | just\s )?
        (?: obtain | gets? | have | find | conclude | arrive\ at | end\ up\ with | are\ left\ with | see
          | simplif\w+ \s (?:down\s)?to | reduces?\ to | evaluates?\ to | equals? | gives? | yields? | becomes? | is
          | comes?\ (?:out\ )?to | works\ out\ (?:to|as) | leaves ) (?: \s (?:us|that) )?
      | (?: the | this | our | what ) \s [^.!?]{{1,60}}? \s (?: equals? | simplif\w+ \s (?:down\s)?to | reduces?\ to
          | evaluates?\ to | comes?\ (?:out\ )?to | works\ out\ (?:to|as) | looking\ for\ is | asked\ for\ is
          | must\ be | is | are )
      | (?: wir\ erhalten | ergibt\ sich | on\ (?:obtient|trouve) | obtenemos | queda | resulta | otteniamo
          | si\ ottiene | obtemos | temos | получаем | получается | имеем | نحصل\ على
          | الناتج (?:\ هو)? ) (?: \s (?: daraus | also | somit | damit | donc | ainsi | entonces | quindi | então ) )?
      | (?: 结果 | 解 | 原式 | 我们 | 可得 | 所以 )? (?: 得到 | 等于 | 等於 | 可得 | 为 | (?<!不)是 )
    )
    {_RESULT} {_UNIT} (?: as\ (?:the|our)\s [^.!?]* )? [\s.。!！*_]*+ (?: \Z | (?<=\s)\d{{1,2}}[.)]\s )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The end of a sentence that says what something comes to."""
_THERE_ARE: Final = lazy_pattern(
    rf"""
    (?: (?:so|thus|hence|therefore|in\stotal),?\s )? (?:in\stotal,?\s)? there \s (?: is | are | will\sbe | must\sbe )
    (?: \s (?: exactly | therefore | thus | only | a\stotal\sof | in\stotal ) )* {_RESULT}
    (?: \s? (?: [a-z]{{3,14}} (?:\s (?!if|when|for|with|and|or)[a-z]{{2,14}} ){{0,3}} ) )? [\s.*_]*+ \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What the last sentence of a response counts: "So there are 15 ways"."""
_WHERE_IT_IS: Final = lazy_pattern(
    r",?\s(?:which\s(?:is|occurs)\s)?(?:attained|achieved|reached|occurring|occurs)\s(?:at|when|for|only|if|by)\b[^.!?\n]*"
)
"""Where an extreme value is taken; no part of the answer."""
_COMES_FIRST: Final = lazy_pattern(rf"{_RESULT} (?: が得られ | となり | になり | である | です )", re.VERBOSE)
_ONLY: Final = lazy_pattern(rf"(?: [\s>*_`\#=•] | -(?=\s) )*+ {_RESULT} [\s.。*_`]*+", re.VERBOSE)
_CUT: Final = lazy_pattern(rf"[^\W_](?<!{WORD})\Z")
"""The end of a text that does not end a sentence."""
_ITEM: Final = lazy_pattern(r"^[^\S\n]*(?:[-*•]|\d{1,2}[.)])[^\S\n]", re.MULTILINE)
"""An item of a list."""
_ABOVE_MAX: Final = 200
_CALCULATION: Final = lazy_pattern(r"[^A-Za-z]*\d[^=A-Za-z]*[-+*/·×−][^=A-Za-z]*=[^A-Za-z]*\d[^A-Za-z]*")
"""A sum of numbers and its result."""


_REMARK_BEHIND: Final = lazy_pattern(
    rf"{WORD}(?!.*\b(?:if|when|otherwise|or|for)\b.*{WORD})[^\w]*\s[^\W\d_]+:?\s.*[^\W\d_]{{3}}\s.*{WORD}",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence after an expression without a full stop between: "**5** In an earlier version, it was 6"."""


def read_expression(response: str) -> Reading:
    """Return how the mathematical answer of a response was read.

    >>> read_expression("We try $x = 3$. So the answer is $\\\\frac{1}{2}$.").value
    '\\\\frac{1}{2}'
    >>> read_expression("It can't be $\\\\boxed{5}$.").value is None
    True
    """
    plain = clauses.plain(before_next_question(response))
    reading = _plain_box(plain) or _plain_line(plain)
    if reading is not None:
        return reading
    size = len(plain.rstrip())
    if size > _LAST_MAX:
        reading, rank = _read_from(plain, _paragraph(plain, size - _LAST_MAX))
        if rank == DECLARED:
            return reading
    reading = _read_from(plain, _paragraph(plain, size - _TAIL_MAX))[0]
    none = _HAS_NONE.search(plain, max(0, size - _LINE_MAX), size) if reading.value is None else None
    return reading if none is None else reading.take(none["value"], *none.span("value"), "said")


def _plain_box(text: str) -> Reading | None:
    """Return the box at the end of a response whose line does nothing but declare it, as most responses end."""
    last = text.rfind("\\boxed{")
    if last < 0:
        return None
    start = last + len("\\boxed{")
    stop = closing_brace(text, start)
    if stop is None or not _ENDS_TEXT.match(text, stop + 1) or not is_plain(text, last, stop + 1):
        return None
    found = formula_in(text, start, stop)
    return None if found is None else Reading().take(text[found[0] : found[1]], *found, "box")


def _plain_line(text: str) -> Reading | None:
    """Return the expression without delimiters that a last line declares and is: "Answer: x = 1, x = -2"."""
    stop = len(text.rstrip())
    begin = text.rfind("\n", 0, stop) + 1
    if stop - begin > _LINE_MAX or (found := _DECLARED_LINE.fullmatch(text, begin, stop)) is None:
        return None
    if _DELIMITER.search(found["value"]):
        return None
    if _NO_SOLUTION.fullmatch(found["value"]) and is_plain(text, begin, stop):
        return Reading().take(found["value"], *found.span("value"), "declared")
    words = _WORD_RUN.findall(_TEX_WORDS.sub(" ", found["value"]))
    if not set(words) <= _LINE_WORDS or (_EITHER.search(found["value"]) and not _COMPARES.search(found["value"])):
        return None
    if not _SAYS_SOMETHING.search(found["value"]) or is_placeholder(found["value"]) or not is_plain(text, begin, stop):
        return None
    return Reading().take(found["value"], *found.span("value"), "declared")


def _paragraph(text: str, place: int) -> int:
    """Return where the first paragraph begins after a place, or the first line, or else the place."""
    if place <= 0:
        return 0
    blank = text.find("\n\n", place, place + _PARAGRAPH_MAX)
    return max(place, (blank if blank >= 0 else text.find("\n", place, place + _PARAGRAPH_MAX)) + 1)


def _read_from(text: str, begin: int) -> tuple[Reading, int]:
    """Return how the end of a response was read, and how binding that is."""
    hidden = with_lists(masked(text[begin:]), text[begin:])
    search = _ExpressionSearch(hidden, text[begin:])
    return _restored(search.read(), hidden, text, begin), search.rank


def _restored(reading: Reading, hidden: Masked, text: str, begin: int) -> Reading:
    """Return a reading of the masked text as one of the response."""
    rejected = [
        one._replace(start=begin + hidden.origin(one.start), end=begin + hidden.origin(one.end))
        for one in reading.rejected
    ]
    reading.rejected[:] = rejected
    if reading.value is None:
        return reading
    found = hidden.within(reading.start, max(reading.end, reading.start + 1))
    if not found and WORD in reading.value:  # an unwrapped value ends before the word that it is
        found = hidden.within(reading.start, len(hidden.text))[:1]
    if len(found) > 1 and _REMARK_BEHIND.match(reading.value.lstrip(' *_`"“')):
        found = found[:1]
    if found:
        reading.start, reading.end = begin + found[0].start, begin + found[-1].end
        reading.value = found[0].written(text[begin:]) if len(found) == 1 else text[reading.start : reading.end]
        if _is_escaped(text, reading.start, reading.end):
            reading.value = reading.value.replace("\\\\", "\\")
    else:
        reading.start, reading.end = begin + hidden.origin(reading.start), begin + hidden.origin(reading.end)
    return reading


_ESCAPED: Final = lazy_pattern(r"(?:[^\\]|\\\\)*")
_QUOTED: Final = lazy_pattern(r"[:=]\s*[\"']\$?\Z")


def _is_escaped(text: str, start: int, end: int) -> bool:
    """Return whether an expression stands in a string of JSON or YAML, in which each backslash is written twice."""
    if "\\\\" not in text[start:end] or not _ESCAPED.fullmatch(text, start, end):
        return False
    return _QUOTED.search(text, max(0, start - 8), start) is not None


_WORDS: Final = lazy_pattern(r"(?!an?\b|not?\b)[^\W\d_][\w-]*(?: (?!not\b)[\w-]+){0,2}")
"""An answer in words, such as "even", "Evelyn" or "no solution"."""


def _is_mathematical(value: str) -> bool:
    return WORD in value or any(mark.isdigit() for mark in value)


class _ExpressionSearch(TextSearch):
    def __init__(self, hidden: Masked, text: str) -> None:
        super().__init__(hidden.text)
        self.hidden = hidden
        self.original = text

    def candidate(self, sentence: str, offset: int) -> Found | None:
        found = super().candidate(sentence, offset)
        if found is not None and found.rank == DECLARED:
            start, end = found.start - offset, found.end - offset
            if found.rule == "concluded" and not _ONLY.fullmatch(found.value):
                return self._result(sentence, offset)
            if not _is_mathematical(found.value) and not _WORDS.fullmatch(found.value):
                return None
            return None if self.is_step(sentence[:start], sentence[end:]) else found
        if found is None or found.rank == ALONE:
            found = self._result(sentence, offset)
        if found is None:
            return None
        if not _is_mathematical(found.value):
            return None
        if _STEP.search(sentence):
            self.reading.reject(found.start, found.end, STEP)
            return None
        return found

    def is_bare(self, text: str, *, loosely: bool = False) -> bool:
        return _is_mathematical(text) and super().is_bare(text, loosely=loosely)

    def is_step(self, before: str, after: str) -> bool:
        return _PASSING.search(before) is not None or _PASSING_BEHIND.match(after) is not None

    def _result(self, sentence: str, offset: int) -> Found | None:
        """Return what a sentence comes to."""
        is_last = offset + len(sentence) >= len(self.text.rstrip())
        sentence = _WHERE_IT_IS.sub("", sentence)
        match = _COMES_TO.search(sentence)
        if match is not None and match["unit"] and (not is_last or " there " in match[0].lower()):
            match = None
        match = match or _COMES_FIRST.search(sentence)
        if match is None and is_last:
            match = _THERE_ARE.match(sentence)
        if match is None or sentence.count(WORD) > 1:
            return None
        start, end = match.span("value")
        if clauses.DENIAL.search(sentence[:start]) or not self.stands(sentence, start, end, offset):
            return None
        return Found(match["value"], offset + start, offset + end, "said", SAID)

    def alone(self, line: clauses.Line) -> Found | None:
        is_last = line.start > len(self.text) - len(self.text.lstrip())
        if is_last and self.is_long and WORD in self.text[line.start + len(line.text) :]:
            return None
        if is_last and _CUT.search(self.text.rstrip()[-20:]):
            return None
        if _ITEM.match(line.text) and len(_ITEM.findall(self.text)) > 1:
            return None
        lead = declaring.LEAD.match(line.text)
        text = line.text[lead.end() if lead else 0 :]
        offset = line.start + len(line.text) - len(text)
        parts = clauses.sentences(text)
        if len(parts) > 1 and self.text.rstrip().endswith(line.text) and _CUT.search(line.text):
            return None
        for place, sentence in parts[:1]:
            match = _ONLY.fullmatch(sentence)
            if match is None:
                return None
            start, end = offset + place + match.start("value"), offset + place + match.end("value")
            for one in self.hidden.within(start, end):
                if is_last and self._is_announced(line.start):
                    break
                if _CALCULATION.fullmatch(self.original, one.start, one.end):
                    return None
                if self.is_long and is_last and "=" in sentence + self.original[one.start : one.end]:
                    return None
            return Found(match["value"], start, end, "alone on a line", ALONE)
        return None

    def _is_announced(self, place: int) -> bool:
        """Return whether the line above a place ends in words that declare an answer: "the answer is:"."""
        above = self.text[max(0, place - _ABOVE_MAX) : place].rstrip()
        found = declaring.STRONG.search(above[above.rfind("\n") + 1 :])
        return found is not None and above[above.rfind("\n") + 1 :][found.end() :].strip(" *_") == ""
