"""Removes quotations from a judge's reply, so that only its own words can be a verdict.

A judge that thinks aloud repeats what it was shown, which may contain a forged verdict. Every quotation becomes
`QUOTED`, so that a line with a quotation in it is never a verdict. A reply may lose a true verdict this way, and the
judge is asked once more; it never gains one. Time is linear in the reply's length. Depends on `nel.judges.quoting`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from nel.judges.quoting import Quoted, outside_marks, shown

QUOTED: Final = "\ufffc"
"""Replaces each quotation."""
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0]"
)
"""Soft hyphens, joiners, fillers, text directions and variation selectors: they would split a keyword unseen."""
_LINE_ENDS: Final = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACE_AND_MARKS: Final = re.compile(r"[\s*#_`~>.]+")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_BLOCK_QUOTE: Final = re.compile(r"(?m)^[ \t]*>.*$")
_REASONING: Final = re.compile(
    r"""
    <(?P<slash>/?) (?:seed:)? (?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis) [ \t]*>
    | [\[◁] (?P<other_slash>/?) think(?:ing)? [\]▷]
    | < [ ]? \| (?: begin_of_thought | (?P<end>end_of_thought) ) \|>
    | < [ ]? \|channel\|> (?: analysis | commentary | (?P<final>final) ) (?:< [ ]? \|message\|>)?
    | \A \s* analysis (?=[A-Z]) | (?P<merged>assistantfinal)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Tags around reasoning: XML, ``[THINK]``, ``◁think▷``, OpenThoughts' and the channels of harmony, of which a server
may leave the bare words ``analysis`` and ``assistantfinal``."""
_ENDS_OF_REASONING: Final = re.compile(rf"(?:(?:{_REASONING.pattern})\s*)+", re.IGNORECASE | re.VERBOSE)
"""A quoted text of closing tags only is kept: removing it would remove the end of the judge's own reasoning."""
_GRADE_MAX: Final = 80
"""Characters of a grade in quotation marks, and of the text before it."""
_QUOTATION_MARKS: Final = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"))
_BEGINS_QUOTATION: Final = "\"'“‘„«「(:`"
# A quoted text with such characters could open or close a quotation, a fence or an object around the judge's words.
_TAG_STARTS: Final = re.compile(r"[<\[◁]")
_MERGED: Final = "assistantfinal"
_MARKS: Final = re.compile('[`~<\\[◁"“”„«»「」{}>]')
"""One of these, or the merged words, is in every text with structure; finding them is far cheaper."""
_STRUCTURE: Final = re.compile(
    r"""
    ```|~~~ | </?(?:think|reason|thought|reflection|scratchpad|analysis) | \[/?think | ◁ | <[ ]?\| | assistantfinal
    | ["“”„«»「」{}] | ^[ \t]*>
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def plain_lines(text: str) -> str:
    """Return a text with ``\\n`` as its only line end, without invisible characters and without `QUOTED`."""
    return _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text)).replace(QUOTED, "?")


def only_repeats(reply: str, foreign: Iterable[str]) -> bool:
    """Return whether a reply is one of the quoted texts, once or several times, and nothing else.

    Such a reply is no verdict, whatever it says: nothing tells that it is the judge's. A text of a single word or
    number is left out, since a judge may say "5" of the response "5".
    """
    said = _folded(shown(reply))
    for text in foreign:
        one = _folded(shown(text))
        times, rest = divmod(len(said), len(one) or 1)
        if one and not rest and not one.isalnum() and said == one * times:
            return True
    return False


def _folded(text: str) -> str:
    return _SPACE_AND_MARKS.sub("", plain_lines(text)).casefold()


def unquoted_text(
    reply: str,
    quoted: Quoted,
    *,
    holds_verdict: Callable[[str], bool],
    is_verdict: Callable[[str], bool],
    is_grade_in_marks: Callable[[str, str], bool] | None = None,
    is_json: bool = False,
) -> str:
    """Return a reply with `QUOTED` in place of everything that is not the judge's own verdict or reasons.

    Replaced are the prompt and all between its marks; a quoted text that is repeated verbatim, if it contains what
    could be read as a verdict or end a quotation; reasoning up to its closing tag; and, where a verdict is not JSON,
    block quotes, code fences and text in quotation marks.

    Args:
        holds_verdict: Returns whether a verdict could be read anywhere in a text.
        is_verdict: Returns whether a text is nothing but a verdict. Repeated, such a text looks the same as the
            judge's own verdict, so it is kept, and the reader decides.
        is_grade_in_marks: Returns whether a text in quotation marks is a verdict, given what stands before it on its
            line; such a text loses its marks only.
        is_json: A verdict is a JSON object that begins a line; it may stand in a fence and holds quotation marks.
    """
    text = plain_lines(reply)
    if quoted.code in text:
        text = text.replace(plain_lines(quoted.prompt).strip(), QUOTED)
        text = outside_marks(text, quoted.code, QUOTED)
    foreign = sorted({plain_lines(one).strip() for one in quoted.foreign} - {""}, key=len, reverse=True)
    for one in foreign:
        if _ENDS_OF_REASONING.fullmatch(one) or is_verdict(one):
            continue
        if _has_structure(one) or holds_verdict(one):
            text = _without_repeated(text, one)
    text = _after_reasoning(text, "\n".join(foreign))
    if is_json:
        return text
    text = _BLOCK_QUOTE.sub(QUOTED, _without_fences(text))
    for opening, closing in _QUOTATION_MARKS:
        text = _without_pairs(text, opening, closing, is_grade_in_marks)
    return text


def _has_structure(text: str) -> bool:
    return bool(_MARKS.search(text) or _MERGED in text.lower()) and _STRUCTURE.search(text) is not None


def _without_repeated(text: str, quotation: str) -> str:
    """Remove a text where it is repeated: on lines of its own, or, with several lines, where a quotation may begin.

    Elsewhere it may be part of the judge's own sentence, which the text's author predicted in order to have it removed.
    """
    kept: list[str] = []
    start = 0
    found = text.find(quotation)
    while found >= 0:
        end = found + len(quotation)
        before, after = text[max(found - 80, 0) : found].rstrip(" \t"), text[end : end + 80].lstrip(" \t")
        begins = not before or before.endswith(("\n", QUOTED))
        ends = not after or after.startswith("\n")
        if (begins and ends) or ("\n" in quotation and (begins or before[-1] in _BEGINS_QUOTATION)):
            kept += [text[start:found], QUOTED]
            start = end
        found = text.find(quotation, end)
    return "".join([*kept, text[start:]])


def _after_reasoning(text: str, foreign: str) -> str:
    """Remove reasoning, unless a quoted text contains the closing tag too, so that the tag may be quoted."""
    low = text.lower()
    if not (_TAG_STARTS.search(text) or _MERGED in low or low.lstrip().startswith("analysis")):
        return text
    tags = list(_REASONING.finditer(text))
    ends = [tag for tag in tags if _is_end(tag)]
    if tags and not ends and tags[0].start() == len(text) - len(text.lstrip()):
        return QUOTED  # cut off before its verdict
    if any(_is_end(tag) for tag in _REASONING.finditer(foreign)):
        return text
    return QUOTED + "\n" + text[ends[-1].end() :] if ends else text


def _is_end(tag: re.Match[str]) -> bool:
    return any(tag[name] for name in ("slash", "other_slash", "end", "final", "merged"))


def _without_fences(text: str) -> str:
    """Remove code fences; one that is never closed hides all that follows."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
            kept.append(QUOTED)
        else:
            kept.append(line)
    return "\n".join(kept)


def _without_pairs(text: str, opening: str, closing: str, is_grade_in_marks: Callable[[str, str], bool] | None) -> str:
    """Remove text between quotation marks, across lines too; an unpaired mark removes nothing."""
    kept: list[str] = []
    start = 0
    begin = text.find(opening)
    while begin >= 0:
        end = text.find(closing, begin + 1)
        if end < 0:
            break
        inner = text[begin + 1 : end]
        is_grade = (
            is_grade_in_marks is not None
            and len(inner) <= _GRADE_MAX
            and "\n" not in inner
            and is_grade_in_marks(_before_on_line(text, begin), inner)
        )
        kept += [text[start:begin], inner if is_grade else QUOTED]
        start = end + 1
        begin = text.find(opening, start)
    return "".join([*kept, text[start:]])


def _before_on_line(text: str, position: int) -> str:
    first = max(position - _GRADE_MAX, 0)
    return text[max(text.rfind("\n", first, position) + 1, first) : position]
