"""Decisions on problems of BIG-Bench Hard that restate what was asked: "The sentence is not plausible", "Ann lies".

Each kind of problem has its own words: whether a sentence is plausible, an argument valid, a walk returns, a person
tells the truth, a typical person would agree. Depends on `nel.scoring.reading.categories`.
"""

from __future__ import annotations

import re
from typing import Final

from nel.scoring.reading.categories import read_category

_SENTENCE_MAX: Final = 300
_LAST_SENTENCE: Final = re.compile(r"(?:\A|[.!?\n]\s*)(?P<last>[^.!?\n]+[\s.!*_`]*)\Z")
_HOW: Final = (
    r"(?:(?:very|really|at\ all|particularly|entirely|quite|highly|completely|deductively|logically|formally)\s+)*"
)
_DENIED: Final = (
    r"\b(?:(?:is|was|does|do|seem|appear|would)(?:n['’]t|\s+not)(?:\s+(?:seem|appear|look|sound|be))?"
    r"|(?:is\s+|seems\s+)?(?:not|hardly|unlikely|far\s+from)(?:\s+to)?)"
    r"(?:\s+be)?(?:\s+being)?(?:\s+(?:considered|deemed))?\s+(?:an?\s+|the\s+)?"
)
_ARGUMENT: Final = r"(?:argument|one|inference|deduction)"
_SENTENCE: Final = r"(?:sentence|statement|scenario|claim|event|one)"
_NOT_PLAUSIBLE: Final = re.compile(rf"{_DENIED}{_HOW}(?P<word>im|un)?plausible\b(?:\s+{_SENTENCE})?", re.IGNORECASE)
_PLAUSIBLE_SENTENCE: Final = re.compile(
    rf"\b(?:is|['’]s)\s+an?\s+{_HOW}(?P<word>im|un)?plausible\s+{_SENTENCE}\b", re.IGNORECASE
)
_PLAUSIBILITY: Final = {"plausible": "yes", "not plausible": "no", "implausible": "no"}
"""What a sentence can be called where it is asked whether it is plausible."""
_NOT_VALID: Final = re.compile(rf"{_DENIED}{_HOW}(?P<word>in)?valid\b(?:\s+{_ARGUMENT})?", re.IGNORECASE)
_VALID_ARGUMENT: Final = re.compile(
    rf"\b(?:is|makes\s+it)\s+an?\s+{_HOW}(?P<word>in)?valid\s+{_ARGUMENT}\b", re.IGNORECASE
)
_NOT_SO: Final = re.compile(
    r"\b(?:not\s+(?:the\s+case|true|correct)|false|untrue)\s+that\s+(?:the|this)\s+argument\s+is\s+(?P<word>in)?valid\b",
    re.IGNORECASE,
)
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
_FOLLOWS: Final = re.compile(
    r"\bthe\s+conclusion\s+(?:(?P<no>(?:does|do)(?:\s+not|n['’]t)|cannot|fails\s+to)\s+)?(?:(?:logically|necessarily|deductively|therefore"
    r"|indeed)\s+)*follows?\b(?!\s+if)",
    re.IGNORECASE,
)
_ASKED_LIAR: Final = re.compile(r"\bDoes (?P<name>\w+) tell the truth\?")
_START: Final = (
    r"(?:(?:to|at)\s+)?(?:the\s+(?:same\s+)?(?:start(?:ing)?|original|initial)\s+(?:point|position|place|location)"
    r"|where\s+(?:you|we|i)\s+(?:started|began))"
)
_DOES_NOT: Final = r"(?:do|does|did|would|will)(?:\s+not|n['’]t)"
_RETURNS: Final = re.compile(
    rf"""
    \b (?:
        (?: you | we | i ) \s+ (?: (?:would|will|also|indeed) \s+ (?!not) )?
        (?P<no> (?: {_DOES_NOT} | never | fail\s+to ) \s+ (?:end\s+up\s+)? )?
        (?: (?:do|have) \s+ )? (?: return(?:ed|ing)?
          | (?: are | be | end\s+up ) \s+ (?: back\s+ )? (?P<not> not\s+(?:back\s+)? )? (?: at\b )? )
      | (?: (?:following\s+)? (?:these|the|those) \s+ (?:instructions|steps|directions) | following\s+them ) \s+
        (?P<never> {_DOES_NOT} \s+ )? (?: (?:do|does|did|would|will) \s+ )?
        (?: return(?:s|ed)? | brings? | leads? | takes? ) \s+ (?: you | us | me ) \b
    ) \s* (?: back\s+ )? {_START} [\s.!*_`]* \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NOT_BACK: Final = re.compile(
    rf"""
    (?: \b(?:is|are|am)(?:\s+not|n['’]t) | ,\s+not ) \s+ (?: the\s+same\s+as\s+ )? {_START} [\s.!*_`]* \Z
    | \b (?: are | am | is | end\s+up ) \s+
      (?: [1-9]\d* | one | two | three | four | five | six | seven | eight | nine | ten )
      \s+ steps? \s+ (?: away | \w+ ) \s+ (?: from | of ) \s+ {_START} [\s.!*_`]* \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What says that the instructions lead elsewhere: "(0, 3), which is not the starting point"."""
_NOT_TRUE_THAT: Final = re.compile(
    r"\b(?:not|n['’]t)\s+(?:be\s+)?(?:true|the\s+case|correct|possible)\s+that\s+\Z|\b(?:cannot|can['’]t)\s+be\s+(?:true\s+)?that\s+\Z"
    r"|\b(?:false|untrue|impossible|incorrect)\s+that\s+\Z",
    re.IGNORECASE,
)
"""Right before a statement that is denied as a whole."""
_NOT_YET: Final = re.compile(r"\b(?:before|until|unless|need(?:ed)?|have\s+to|should|must)\b[^,;]*\Z", re.IGNORECASE)
_TYPICAL: Final = re.compile(
    r"\b(?:person|people)\s+would(?P<not>n['’]t|\s+not)?\s+(?:\w+\s+){0,2}?"
    r"(?:say|answer|respond|conclude|think|believe|agree)\s+that\s+"
    r"(?P<claim>[^.!?\n]+(?:\.(?=\s+\w+\s+[a-z])[^.!?\n]+)?)",
    re.IGNORECASE,
)
"""What "How would a typical person answer?" is answered with, in a sentence of its own."""
_DENIES: Final = re.compile(
    r"\b(?:did|does|do|was|were|is|are|has|had|would|could)(?:\s+not|n['’]t)\b|\bnever\b", re.IGNORECASE
)
_HEDGES: Final = re.compile(
    r"\b(?:not|no|only|but|rather|instead|without|accident\w*|because\s+of)\b|n['’]t\b", re.IGNORECASE
)
_WORD: Final = re.compile(r"\b[A-Za-z]{4,}\b(?!['’]t)")
_SUBJECT: Final = re.compile(r"\b(?:Did|Does|Do|Was|Were|Is|Has)\s+(?:the\s+|an?\s+)?(?P<subject>\w+)[^.?!\n]*\?")
_NEUTRAL: Final = frozenset("that this they them their there have been would caused cause".split())


def restated(text: str, problem: str) -> str | None:
    """Return the yes or no that the last sentence of a response gives by restating what was asked, or None.

    >>> restated("So the sentence isn't plausible.", "Is it plausible?")
    'no'
    >>> restated("A typical person would say that he did not jump.", "How would a typical person answer? Did Al jump?")
    'no'
    """
    if "plausible" in problem:
        plain = _NOT_PLAUSIBLE.sub(lambda found: "is plausible" if found["word"] else "is not plausible", text)
        plain = _PLAUSIBLE_SENTENCE.sub(lambda found: " is implausible" if found["word"] else " is plausible", plain)
        return _PLAUSIBILITY.get(read_category(plain, tuple(_PLAUSIBILITY)).value or "")
    if "typical person" in problem:
        return _typically(text, problem)
    last = _LAST_SENTENCE.search(text[-_SENTENCE_MAX:].rstrip())
    if last is None or "if" in last["last"].lower().split():
        return None
    if "return to the starting point" in problem:
        if _NOT_BACK.search(last["last"]) is not None:
            return "no"
        found = _RETURNS.search(last["last"])
        if found is None or _NOT_YET.search(last["last"], 0, found.start()):
            return None
        denials = any((found["no"], found["not"], found["never"]))
        return "no" if denials != _is_denied(last["last"], found.start()) else "yes"
    asked = _ASKED_LIAR.search(problem)
    return None if asked is None else _liar(last["last"], asked["name"])


def _liar(last: str, name: str) -> str | None:
    verdict = re.search(
        rf"\b{name}\s+(?:(?P<yes>(?:also\s+|is\s+|must\s+be\s+|does\s+)?tell(?:s|ing)?\s+the\s+truth|is\s+(?:truthful|honest))|(?:is\s+)?(?:lies"
        rf"|lying)|is\s+(?:a\s+liar|dishonest)|(?:does|is)(?:\s+not|n['’]t)\s+(?:tell(?:ing)?\s+the\s+truth|truthful|honest))[\s.!*_`]*\Z",
        last,
    )
    if verdict is None:
        return None
    return "yes" if bool(verdict["yes"]) != _is_denied(last, verdict.start()) else "no"


def _is_denied(text: str, place: int) -> bool:
    return _NOT_TRUE_THAT.search(text, 0, place) is not None


def _typically(text: str, problem: str) -> str | None:
    """Return what a typical person would say to the question, where the response says it in the question's words."""
    claims = list(_TYPICAL.finditer(text))
    asked = {word.lower()[:3] for word in _WORD.findall(problem)}
    if not claims or len(text) - claims[-1].end() > _SENTENCE_MAX or text[claims[-1].end() :].strip(" .*_`\n"):
        return None
    claim = claims[-1]["claim"].strip(" .*_`")
    words = [word.lower() for word in _WORD.findall(claim)]
    if any(word[:3] not in asked for word in words if word not in _NEUTRAL) or not _has_subject(claim, problem):
        return None
    if _DENIES.search(claim) is not None:
        return None if claims[-1]["not"] or re.search(r"\bbut\b", claim) else "no"
    if _HEDGES.search(claim):
        return None
    return "no" if claims[-1]["not"] else "yes"


def _has_subject(claim: str, problem: str) -> bool:
    """Return whether a claim is about what the question is about: "Did Jane cause the fire?", and not the fire."""
    asked = list(_SUBJECT.finditer(problem))
    if not asked or re.match(r"(?:he|she|they)\b", claim, re.IGNORECASE):
        return True
    subject = asked[-1]["subject"].lower()
    return (
        re.match(rf"(?:it\s+(?:is|was)(?:n['’]t|\s+not)?\s+)?(?:the\s+|an?\s+)?{re.escape(subject)}\b", claim.lower())
        is not None
    )


def read_validity(response: str) -> str | None:
    """Return whether a response calls an argument valid or invalid, or None.

    >>> read_validity("It isn't deductively valid."), read_validity("This is a valid argument.")
    ('invalid', 'valid')
    >>> read_validity("So the conclusion does not follow from the premises.")
    'invalid'
    """
    plain = _NOT_SO.sub(lambda found: "is valid" if found["word"] else "is not valid", response)
    plain = _NOT_VALID.sub(lambda found: "is valid" if found["word"] else "is not valid", plain)
    plain = _VALID_ARGUMENT.sub(lambda found: "is invalid" if found["word"] else "is valid", plain)
    verdict = _VALIDITY.get(read_category(plain, tuple(_VALIDITY)).value or "")
    last = _LAST_SENTENCE.search(response[-_SENTENCE_MAX:].rstrip())
    if verdict is not None or last is None or "valid" in last["last"].lower():
        return verdict
    follows = _FOLLOWS.search(last["last"])
    return None if follows is None else "invalid" if follows["no"] else "valid"
