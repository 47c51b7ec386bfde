"""Labels that a response gives by how it writes a list: of the options with verdicts or a mark, or of several answers.

Depends on `nel.scoring.reading.label_runs` for the labels.
"""

from __future__ import annotations

import re

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading.label_runs import Found
from nel.scoring.reading.option_texts import OptionTexts
from nel.scoring.reading.result import Reading

_VERDICT_LINE = lazy_pattern(
    r"""
    (?m) ^ [^\S\n]*+ [*_>|-]*+ [^\S\n]*+ (?:(?:option|choice)\s)? [(\[]? (?P<label>[A-Z])
    (?: [)\].:|*_]{1,6} [^\S\n] | (?=[^\S\n][:|–—-]) )
    (?: [^\n]{0,200}? [\s:|–—-] )?? [*_(]*
    (?: (?P<right> (?:[✅✓✔][^\n]{0,80}) | yes | correct | true | right | fits | ✅ | ✓ | ✔
    | this\s+is\s+(?:the\s+)?(?:correct|right)(?:\s+(?:answer|one|option))? )
      | (?:[❌✗✘][^\n]{0,80}) | no | incorrect | false | wrong )
    (?: ,?\ (?:because|since|as)\ [^\n]{1,200} )? [*_).|!\ ]*+ [^\S\n]*+ $
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OPTION_LINE = lazy_pattern(
    r"(?m)^[^\S\n]*+(?:[-*•][^\S\n]+)?(?P<bold>\*\*|__)?[(\[]?(?P<label>[A-Z])(?:\*\*|__)?[)\].:](?P<rest>[^\S\n*][^\n]*|\*\*[^\n]+)$"
)
_MARKED = lazy_pattern(
    r"(?:(?<=[.!;:–—]\s)[*_]{0,2}(?:(?:this\s+is\s+)?(?:the\s+)?(?:correct|right)(?:\s+(?:answer|option|choice|one))?"
    r"|this\s+is\s+(?:the|our|my)\s+(?:(?:best|final)\s+)?(?:answer|option|choice))"
    r"|\(\s*(?:this\s+is\s+)?(?:the\s+)?(?:correct|right)(?:\s+(?:answer|option|choice))?\s*\)|(?:←|⟵|<-{1,4}|<={1,4})[\s*_]{0,8}(?:this|the)?\s{0,8}"
    r"(?:is\s+)?(?:the\s+)?(?:correct|right|answer)[^\n]{0,40})[*_.!\s]*\Z",
    re.IGNORECASE,
)
"""What marks the line of the right option: "(correct answer)", "← correct", "This is the answer."."""
_CALLED = lazy_pattern(
    r"(?:[-–—:]|->|→)[\s*_]{0,8}(?:(?:this|that)(?:\s+is|['’]s)\s+)?(?:(?P<right>correct|right|true|yes)|incorrect|wrong|false|no"
    r"|not\s+(?:correct|right|true))[*_]*\s*(?:[.!,;:)–—-]|\Z)",
    re.IGNORECASE,
)
"""A verdict in the line of an option, with its reason after: "B. Canberra - Correct! It is …"."""
_NUMBERED_ANSWERS = lazy_pattern(
    r"(?:\s*+(?:(?:Q|[Qq]uestion)\s?)?\d{1,3}\s?[.):][^\S\n]*[(\[*_]*[A-Z][)\]*_.,;]*+(?=\s|\Z)){2,60}\s*\Z"
)
_ROW = lazy_pattern(r"\s*+[(\[*_]{0,4}[A-Z][)\]*_.,]{0,5}(?:\s{1,4}[(\[*_]{0,4}[A-Z][)\]*_.,]{0,5}){1,30}\s*\Z")
_LETTER = lazy_pattern("[A-Z]")
_NUMBERED_ANSWER = lazy_pattern(r"\d\s?[.):][^\S\n]*[(\[*_]*(?P<label>[A-Z])")


def verdict_lines(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the one option of a list of options that its line calls right, where the other lines call theirs wrong."""
    right, wrong = {}, 0
    for match in _VERDICT_LINE.finditer(text):
        if match["right"]:
            right[match["label"]] = match["label"], match.start("label"), match.end("label")
        else:
            wrong += 1
    found = right.popitem()[1] if len(right) == 1 and wrong else None
    return found if found and found[0] in labels else None


def marked_option(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the one option of a list that its line marks: by a remark, a verdict with its reason, or emphasis."""
    lines = [match for match in _OPTION_LINE.finditer(text) if match["label"] in labels]
    if len(lines) < 2 or len({match["label"] for match in lines}) < len(lines):  # noqa: PLR2004 - a list has several
        return None
    called = [(match, _CALLED.search(match["rest"])) for match in lines]
    marked = [match for match in lines if _MARKED.search(match["rest"])]
    if not marked and len([1 for _, verdict in called if verdict]) > 1:
        marked = [match for match, verdict in called if verdict and verdict["right"]]
    if not marked and len(lines) == len(labels):
        marked = [match for match in lines if match["bold"] and match["rest"].rstrip(" .").endswith(match["bold"])]
        marked = marked if sum("**" in match[0] or "__" in match[0] for match in lines) == 1 else []
    return (marked[0]["label"], *marked[0].span("label")) if len(marked) == 1 else None


def is_listed(text: str, label: str, labels: tuple[str, ...]) -> bool:
    """Return whether lines of a text begin with other labels too, as in a list of the options."""
    return any(match["label"] in labels and match["label"] != label for match in _OPTION_LINE.finditer(text))


def numbered_answers(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return no label where a response is nothing but numbers with different labels, and all labels of a row of them.

    "1. B\\n2. A" answers several questions, and "A C" gives two labels.
    """
    if _ROW.match(text) is not None:
        row = [label for label in labels if label in _LETTER.findall(text)]
        return (",".join(row), 0, len(text)) if len(row) > 1 else None
    if _NUMBERED_ANSWERS.match(text) is None:
        return None
    found = {match["label"] for match in _NUMBERED_ANSWER.finditer(text)}
    return ("", 0, len(text)) if len(found) > 1 else None
