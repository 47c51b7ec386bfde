"""Tells reasons beside a verdict from words that take it back, put it under a condition or announce a quotation.

Every rule errs towards refusing: a refused reply is asked for once more. The word lists are English first, with the
commonest words of a few other languages. Depends on `nel.judges.parsing.scale`.
"""

from __future__ import annotations

import re
from typing import Final

from nel.judges.parsing.scale import OutOfRange, Scale

_TAIL_MAX: Final = 300
"""Characters before a verdict in which its clause is looked for."""
_SEPARATOR: Final = re.compile(
    r"\s*(?:[,;:.!(\[{—–\u2192-]|//?\s|,?\s*\b(?:since|because|as|given|due\s+to|denn|weil|da|car|parce\s+que|puisque|porque|"
    r"ya\s+que|pois|perché|poiché|так\s+как|потому\s+что)\b|因为|因為|由于|なぜなら|"
    r"(?:is|as)\s+(?:clearly\s+|the\s+)?(?:better|best|winner)\b(?=\s*(?:$|[.,;:(–—-]|than|because|since|as\b))|"
    r"is\s+my\s+(?:final\s+)?(?:verdict|choice|decision|grade)\b)",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|provided|providing|assuming|assumes?|suppos\w+|otherwise|whenever|were|whether|wenn|falls|sofern|"
    r"если|sauf|sempre\s+que|a\s+menos)\b|如果|若|假如|除非|もし|만약",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"""
    \b(?: wait | actually | on\s+(?:second\s+thought|reflection) | scratch\s+that | i\s+mean | rather | correction | hm+
        | no\s+longer | not\s+(?:really|quite|sure|certain|at\s+all|think|so) | n't\s+think | unsure | uncertain
        | maybe | perhaps | possibly | probably | presumably | i\s+guess | hard\s+to\s+say | (?:might|could|may)\s+be
        | kidding | hardly | barely | never | half | in\s+part | depend\w* | pending | tentative\w* | subject\s+to
        | confirmed
        | (?:would|will)\s+need | in\s+case | so\s+long\s+as | below | draft | examples? | style | contents?
        | (?:it|response|answer|text|author)\s+(?:itself\s+)?(?:says|claims|demands|wants|asks)
        | cannot | can't
        | says\s+(?:it|the) | according\s+to\s+the\s+(?:response|answer|text)
        | vielleicht | quizás | peut-être | может )\b
    | 也许 | 可能 | おそらく
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NO_FAULT: Final = re.compile(
    r"\b(?:no|without|any)\s+(?:\w+\s+)?(?:errors?|mistakes?|contradictions?|issues?|faults?)\b"
    r"|\b(?:not|n't)\s+contradict\w*|\bnothing\s+(?:wrong|missing|false)\b|\bnot\s+only\b",
    re.IGNORECASE,
)
_AGAINST: Final = re.compile(
    r"\b(?:wrong\w*|incorrect\w*|false\w*|inaccura\w+|not|no|never|fails?|failed|mistak\w+|errors?|falsch|incorrecto)\b|n't\b|错|不",
    re.IGNORECASE,
)
_NOT_PRAISE: Final = re.compile(
    r"(?:\b(?:not|never|hardly|the|an?|any|no|be|from|than|only|partly)|n't)\s+(?:\w+\s+)?(?:correct|right|accurate)\w*",
    re.IGNORECASE,
)
_FOR: Final = re.compile(r"\b(?:correct|right|accurate|matches|agrees|richtig|correcto)\b", re.IGNORECASE)
_BETTER: Final = r"(?:better|best|winner|superior|stronger|preferable|preferred|more\s+\w+)"
_WORSE: Final = r"(?:worse|worst|inferior|weaker|wrong|incorrect|less\s+\w+)"
_COPULA: Final = r"\s+(?:(?:is|was|seems|looks)\s+)?(?:(?:clearly|slightly|much|far|the|a\s+bit|somewhat)\s+)*"
_CONTRAST: Final = re.compile(
    r"\b(?:but|however|though|although|yet|still|except|aber|pero|mais|но)\b|但", re.IGNORECASE
)
_REVERSAL: Final = re.compile(
    r"\b(?:should|would|not|isn't|fails?|wrong|incorrect|false|right|correct|falsch|richtig)\b", re.IGNORECASE
)
_ALTERNATIVE: Final = re.compile(r"\W*(?:or|and|oder|und|ou|et|o|y|e|или|и|/|&|\|)\b", re.IGNORECASE)
_NEGATED: Final = re.compile(
    r"\W*(?:no|not|nope|nein|nicht|non|never|which|that|who|isn't|was|would|means|"
    r"is(?!\s+(?:clearly\s+|the\s+|my\s+)?(?:better|best|winner|final|verdict|choice|decision)))\b",
    re.IGNORECASE,
)
_NOT_BEFORE: Final = re.compile(
    r"(?:\b(?:not|never|no|neither|nor|than|without|against|cannot|or|means?|kein|nicht|pas|не)|n't)"
    r"(?:\s+\w{1,12})?[\s\"'“(\[*_:]*$",
    re.IGNORECASE,
)
_GOOD_SIGNS: Final = re.compile("[✅✔☑👍🎉🏆]\ufe0f?")
_BAD_SIGNS: Final = re.compile("[❌✗✘🚫👎⚠]\ufe0f?")
_ENDS_SENTENCE: Final = re.compile(r"[.!?…。！？\ufffc][\s*#_`~)\]\"'”’»\ufffc]*$")
_SENTENCE_END: Final = re.compile(r"[.!?…。！？\ufffc]+[)\"'”’»]*(?=\s|$)|\n[ \t]*\n")
_GOES_ON: Final = re.compile(
    r"[\s*#_`~.…(]*(?:[a-zà-ÿа-я]|(?:But|However|No|Nope|Not|Unless|If|Only\s+if|Wait|Actually|Correction|Or|Except|Although|Aber|Pero|"
    r"Mais|Но)\b|但)"
)
_JUDGES: Final = re.compile(
    r"\b(?:right|wrong\w*|(?:in)?correct\w*|(?:in)?accura\w+|match\w*|(?:dis)?agree\w*|fail\w*|names?|meets?|satisf\w+|"
    r"same|equal\w*|differ\w*|contradict\w*|errors?|mistake\w*|true|false|(?:in)?complete\w*|miss(?:es|ing)|omits?|lacks?|"
    r"better|worse|excellent|(?:un)?helpful|(?:un)?safe|harm\w*|refus\w*|compl(?:y|ies|ied))\b",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(r"\b(?:e\.g\.|i\.e\.|for\s+example|for\s+instance|draft)\W*$", re.IGNORECASE)
_SUPPOSES: Final = re.compile(r"[\s*#>•–-]*(?:suppose|imagine|assume|say\s+it)\b", re.IGNORECASE)
_HEDGES: Final = re.compile(r"\b(?:perhaps|maybe|possibly|probably|(?:could|might|may)\s+be)\b", re.IGNORECASE)
_OWN_LEAD: Final = re.compile(
    r"\b(?:verdict|grade|rating|judge?ment|conclusion|conclude|decision|score|answer\s+is|better|tie|winner)\b\W*"
    r"(?:is|was|that|as)?\W*$",
    re.IGNORECASE,
)
_QUOTING: Final = re.compile(
    r"""
    \b(?:ends?|ending|closes?|closing|concludes?|finish(?:es)?|begins?|starts?)\s+(?:it\s+)?
        (?:with|by|on|in|like|as|so|its|this)\b
    | \b(?:this|the\s+following|last|final|closing|first)\s+(?:line|words?|sentence|part)\b
    | \bfollow(?:s|ing)\b
    | \b(?:quot(?:e|es|ed|ing)|repeat(?:s|ed|ing)?|restat(?:e|es|ed|ing)|cop(?:y|ies|ied|ying)|verbatim|reproduc\w+)\b
    | \b(?:reads?|says|states|claims|writes|wrote|asks?|asked|tells?|told|telling|instruct\w*|demands?|wants?)\b
        (?=\W*(?:me|us|the|this|so|as|for|to|in|that\s+i)\b)
    | \b(?:reads?|says|states|claims|writes)\W*$
    | \b(?:for\s+example|example|e\.g|draft)\b
    | \b(?:format|form|template|instructions?|mark|string)\s+(?:is|are|was|were)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_reason(rest: str, label: str, scale: Scale | None, *, is_marked: bool = False) -> bool:
    """Return whether what follows a grade on its line only gives reasons for it.

    Args:
        rest: The text after the grade.
        label: The grade.
        scale: None where the grade is a number that is its own score.
        is_marked: The grade stands in marks of its own, such as ``[[A]]``, so a new sentence may follow directly.

    >>> letters = Scale({"C": 1.0, "I": 0.0})
    >>> [is_reason(rest, "C", letters) for rest in (", since it is 1912", " or I", ", if so")]
    [True, False, False]
    """
    text = _without_signs(rest, label, scale)
    if text is None:
        return False
    text = text.strip(" \t*_`~")
    if _repeats_grade(text, label, scale):
        return True
    if not text.strip(" \t.,;:!。」』)]}\"'”’»"):
        return True
    separated = _SEPARATOR.match(text)
    if separated is None and not (is_marked and text[0].isupper()):
        return False
    if text[0] == "?" or text.rstrip(" *_)]\"'").endswith("?"):
        return False
    if _CONDITION.search(text) or _TAKEN_BACK.search(text) or _ALTERNATIVE.match(text):
        return False
    contrast = _CONTRAST.search(text)
    if contrast and _REVERSAL.search(text, contrast.end()):
        return False
    is_lowest = scale is not None and scale.is_lowest(label)
    if _NEGATED.match(text) and not (is_lowest and re.match(r"\W*not\s+\w", text)):
        return False
    return not _speaks_for_other_grade(text, label, scale)


def _speaks_for_other_grade(text: str, label: str, scale: Scale | None) -> bool:
    """Return whether reasons name another grade, or say of the grade what is said of another."""
    if _begins_with_other_grade(text, label, scale):
        return True
    if scale is None or scale.is_numeric:
        return bool(re.search(r"\d", re.sub(r"^\W*(?:out\s+)?of\s+5\W*$", "", text)))
    if {"A", "B"} <= scale.scores.keys():
        return _prefers_other(text, label)
    if {"C", "I"} <= scale.scores.keys() or {"CORRECT", "INCORRECT"} <= scale.scores.keys():
        if scale.is_lowest(label) and _FOR.search(_NOT_PRAISE.sub("", text)):
            return True
        if scale.is_highest(label) and _AGAINST.search(_NO_FAULT.sub("", text)):
            return True
    others = [re.escape(one) for one in scale.scores if one != label]
    named = (
        re.compile(rf"(?<![\w'’])(?:{'|'.join(others)})(?![\w'’])(?!(?<=I)\s+(?!for|in|on|as|or)[a-z])")
        if others
        else None
    )
    return named is not None and named.search(text) is not None


def _prefers_other(text: str, label: str) -> bool:
    """Return whether reasons for one answer of a pair call the other one better, or this one worse."""
    if label not in ("A", "B"):
        return bool(re.search(rf"\b(?:slight\w*|prefer\w*|{_BETTER})\b", text, re.IGNORECASE))
    other = "B" if label == "A" else "A"
    if re.match(rf"\W*(?:in\s+\w+\W+)?{other}\b(?!\s+(?:is|was|does|did|has|fails|names|gives|lacks|omits)\b)", text):
        return True
    return bool(
        re.search(rf"\b{other}(?:{_COPULA}{_BETTER}|\s+wins)\b|\b{label}(?:{_COPULA}{_WORSE}|\s+loses)\b", text)
    )


def _repeats_grade(text: str, label: str, scale: Scale | None) -> bool:
    """Return whether a text is the same grade once more and nothing else, as in "(C) correct"."""
    try:
        return scale is not None and scale.label_of(text.rstrip(".")) == label
    except OutOfRange:
        return False


def _without_signs(rest: str, label: str, scale: Scale | None) -> str | None:
    """Return a text without signs such as a check mark; None where a sign contradicts the grade."""
    good, bad = _GOOD_SIGNS.search(rest), _BAD_SIGNS.search(rest)
    if (
        scale is not None
        and "B" not in scale.scores
        and ((bad and scale.is_highest(label)) or (good and scale.is_lowest(label)))
    ):
        return None
    return _BAD_SIGNS.sub("", _GOOD_SIGNS.sub("", rest))


def _begins_with_other_grade(text: str, label: str, scale: Scale | None) -> bool:
    """Return whether reasons begin with another grade; "I checked it" begins with a pronoun."""
    body = re.sub(r"^[\s,;:.!/(\[{—–-]+", "", text)
    if scale is None or scale.is_numeric:
        return bool(re.match(r"[+-]?\d", body))
    try:
        head = scale.head_of(body)
    except OutOfRange:
        return False
    if head is None or head[0] == label:
        return False
    return not (body[:2] == "I " and re.match(r"I [a-z]+", body))


def is_conditional(before: str) -> bool:
    """Return whether the unfinished sentence before a verdict puts it under a condition.

    >>> is_conditional("It fails. If it named Paris, I would say:"), is_conditional("If it fails, it is wrong.")
    (True, False)
    """
    if _EXAMPLE.search(before[-_TAIL_MAX:]):
        return True
    clause = _unfinished_clause(before)
    if clause is None:
        return bool(_SUPPOSES.match(_last_sentence(before[-_TAIL_MAX:])))
    if _HEDGES.search(clause) or is_negated(clause):
        return True
    begins = re.match(
        r"[\s*#>•–-]*(?:if|were|had|should|unless|assuming|wenn|falls|si|если|如果|若)\b", clause, re.IGNORECASE
    )
    return bool(begins) or bool(re.search(r"\b(?:would|might|could|if|unless|wäre|würde)\b", clause, re.IGNORECASE))


def is_negated(before: str) -> bool:
    """Return whether the words directly before a verdict on its line negate it."""
    return bool(_NOT_BEFORE.search(before[-60:]))


def goes_on(after: str) -> bool:
    """Return whether the text after a verdict's line continues its sentence or takes it back.

    >>> goes_on("but it is not"), goes_on("It names the capital.")
    (True, False)
    """
    return bool(_GOES_ON.match(after[:_TAIL_MAX]))


def announces_quotation(before: str) -> bool:
    """Return whether the text before a verdict may announce that it is repeated from elsewhere.

    >>> announces_quotation("It ends with this line."), announces_quotation("It is right."), announces_quotation("")
    (True, False, False)
    """
    tail = before[-_TAIL_MAX:].rstrip(" \t\n*#_`~-•>[(\"“'")
    if not tail.strip("\ufffc \t\n"):
        return False
    if not _ENDS_SENTENCE.search(tail):
        return not _OWN_LEAD.search(tail)
    inner = _ENDS_SENTENCE.sub("", tail)
    return bool(_QUOTING.search(_last_sentence(inner)))


def gives_reasons(before: str) -> bool:
    """Return whether the text before a verdict judges anything, so that the verdict may be its conclusion.

    >>> gives_reasons("It is right."), gives_reasons("I read it once more.")
    (True, False)
    """
    return bool(_JUDGES.search(before[-_TAIL_MAX:]))


def quotes_inline(before: str) -> bool:
    """Return whether the words before a verdict on its own line speak of it instead of giving it."""
    return bool(_QUOTING.search(_last_sentence(before)))


def _unfinished_clause(before: str) -> str | None:
    """Return what stands before a verdict since the last sentence end; None where a sentence or nothing ends there."""
    tail = before[-_TAIL_MAX:].rstrip(" \t\n*#_`~-•>[(\"“'")
    if not tail or _ENDS_SENTENCE.search(tail):
        return None
    return _last_sentence(tail)


def _last_sentence(text: str) -> str:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if text[end.end() :].strip():
            start = end.end()
    return text[start:]
