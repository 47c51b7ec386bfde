"""Responses that end as most do, in a sentence that only declares the answer: "So the answer is 42."

Nothing can speak against such an answer, whatever stands before its sentence, so that the reader of its kind need not
look further. It gives what that reader would give, at a tenth of the cost; everything else is left to the reader.
Depends on `nel.scoring.reading.prepare` for what hides in tags, and on `nel.scoring.numeric` for the decimal mark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from nel.scoring.numeric.languages import Mark, decimal_mark
from nel.scoring.reading.prepare import may_hide
from nel.scoring.reading.result import Reading

_CHARACTERS_MAX: Final = 120
"""Of the last sentence."""
_LABEL_LIKE_MAX: Final = 8
"""Characters of a choice that may be written as a label is."""
_DECLARES: Final = r"""
    (?: (?:so|thus|hence|therefore),?[ ] )? (?:the[ ])? (?:final[ ]|correct[ ])? answer[ ] (?:\(arabic[ ]numerals\)[ ])?
    is:?[ ]
  | (?:final[ ])? answer:[ ]
"""
_DIGITS: Final = r"(?: \d{1,12} | [1-9]\d{0,2}(?:,\d{3}){1,4}(?:\.\d{1,6})? | \d{1,9}\.\d{1,6} )"
_NUMBER: Final = re.compile(
    rf"""
    \ * (?P<form> (?<![^\n])(?-i:A):\  | \#\#\#\#\  | {_DECLARES} )?
    (?: (?P<answer>\$?{_DIGITS}) | (?P<box>\$?\\boxed\{{) (?P<boxed>{_DIGITS}) \}}\$? ) \.?\s*\Z
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_FORMS: Final = {"A: ": "short marker", "#### ": "hashes"}
_LABEL: Final = re.compile(
    rf"\ * (?:{_DECLARES}) \(?(?P<answer>(?-i:[A-Z]))\)? \.?\s*\Z", re.ASCII | re.IGNORECASE | re.VERBOSE
)
_DECISION: Final = re.compile(
    rf"\ * (?:{_DECLARES}) (?P<answer>(?P<yes>yes|true)|no|false) \.?\s*\Z", re.ASCII | re.IGNORECASE | re.VERBOSE
)
_WHOLE: Final = {
    **dict.fromkeys(
        "correct|that is correct|that's correct|this is correct|indeed|indeed it is|absolutely|definitely|certainly"
        "|of course|sure|affirmative|it is the case|right|that's right|that is right"
        "|i agree|i fully agree|yes/true|true/yes"
        "|in the affirmative|i would answer in the affirmative|that is so|it is so"
        "|das ist richtig|das ist wahr|das stimmt|richtig|wahr|stimmt|c'est vrai|c'est exact|vrai|es cierto|es verdad"
        "|cierto|verdadero|verdadeiro|vero|è vero|é verdade|верно|это верно|правда|это правда|правильно|да, верно"
        "|正しい|正しいです|はい、正しいです|その通りです|正确|是正确的|对的|صحيح|هذا صحيح|نعم صحيح|맞습니다|맞아요|참"
        "|ano|igen|kyllä|ใช่|có|ναι|כן"
        "|네|예|evet|हाँ|हां|tak|정답: 예|정답: 네|उत्तर: हाँ|cevap: evet".split("|"),
        "yes",
    ),
    **dict.fromkeys(
        "incorrect|that's incorrect|that is incorrect|that is not correct|that's not correct|this is not correct|wrong"
        "|negative|it cannot|it can't"
        "|untrue|absolutely not|definitely not|certainly not|of course not|not at all|not really|not quite"
        "|never|by no means|probably not|most likely not|unlikely"
        "|i disagree|i do not agree|i don't agree|no/false|false/no|in the negative|i would answer in the negative"
        "|that is not so|it is not so"
        "|das ist falsch|das stimmt nicht|das ist nicht richtig|das ist nicht wahr|falsch|stimmt nicht|c'est faux|faux"
        "|es falso|falso|no es cierto|no es verdad|è falso|non è vero|é falso|não é verdade|неверно|это неверно"
        "|неправда|это неправда|неправильно|нет, неверно|正しくない|正しくありません|間違いです|誤りです"
        "|错误的|不正确|不对的"
        "|خطأ|هذا خطأ|غير صحيح|هذا غير صحيح|틀렸습니다|아닙니다|거짓"
        "|i'm afraid not|unfortunately not|it is untrue|that is untrue|i'm not sure, but i don't think so"
        "|아니요|아니오|아뇨"
        "|nee|nej|ei|không|tidak|ไม่|όχι|לא|hayır|नहीं|nie|정답: 아니요|उत्तर: नहीं|cevap: hayır".split("|"),
        "no",
    ),
}
"""What a response says that is nothing else, in lower case."""
_WHOLE_CHARACTERS_MAX: Final = 40
_AROUND_WHOLE: Final = " \t\r\n*_`\"'“”()[].!。！✅❌"
_SHORT_REPLY: Final = re.compile(
    r"(?:(?:so|therefore|thus|hence),?\s)?(?:he|she|it|they|this|that|we|you|there)\s(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would)"
    r"(?P<denied>n't|\s?not)?|i\s(?P<hardly>don't\s|do\snot\s)?(?:think|believe|guess|suppose)\s(?:so|(?P<not>not))"
)
"""A response such as "He did not." or "I think so."."""
_CONTRADICTS_ITSELF: Final = re.compile(
    r"(?:yes|true),?\s(?:that|this|it)(?:'s|\sis)\s(?:not\s(?:true|correct|right)|false|incorrect|wrong)"
    r"|(?:no|false),?\s(?:that|this|it)(?:'s|\sis)\s(?:true|correct|right)"
)
"""A whole response of which nothing tells what its first word is about: "Yes, that is not correct."."""
_ONE_DECISION: Final = re.compile(r"(?P<answer>(?P<yes>yes)|no)[.!]?", re.ASCII | re.IGNORECASE)


def plain_number(text: str, language: Mark | None = None, *, declared_only: bool = False) -> Reading | None:
    """Return the number of a response that ends in a plain declaration of one, or is nothing else, or None.

    Args:
        language: The decimal mark where the words of the response do not tell.
        declared_only: A number that is not declared is none.

    >>> plain_number("2 + 3 = 5.\\nThe answer is 5.").value
    '5'
    """
    found = _last_sentence(text, _NUMBER)
    if found is None:
        return None
    if "," in found[0] or "." in found[0]:
        start, end = found.span("boxed" if found["box"] else "answer")
        if (decimal_mark(text, start, end) or language) == ",":
            return None
    if found["box"]:
        return Reading().take(found["boxed"], *found.span("boxed"), "box")
    if found["form"]:
        rule = _FORMS.get(found["form"], "declared")
    elif declared_only or found.start("answer"):  # a line of its own may be one of several
        return None
    else:
        rule = "last number"
    return Reading().take(found["answer"], *found.span("answer"), rule)


def plain_label(text: str, labels: Sequence[str], choices: Sequence[str] | None = None) -> Reading | None:
    """Return the label of a response that ends in a plain declaration of one, or None.

    >>> plain_label("It burns. So the answer is (B).", "ABCD").value
    'B'
    """
    found = _last_sentence(text, _LABEL)
    if found is None or found["answer"] not in labels:
        return None
    label = found["answer"]
    # A choice that is written like a label is for the reader to tell from one.
    if choices is not None and any(
        len(choice) <= _LABEL_LIKE_MAX and label.lower() in choice.lower() for choice in choices
    ):
        return None
    return Reading().take(label, *found.span("answer"), "declared")


def plain_decision(text: str) -> Reading | None:
    """Return the yes or no of a response that ends in a plain declaration of it, or is nothing else, or None.

    >>> plain_decision("It is not prime.\\nAnswer: No").value, plain_decision("Yes.").rule
    ('no', 'said plainly')
    """
    rule = "said plainly"
    if len(text) <= _WHOLE_CHARACTERS_MAX:
        plain = text.lower().replace("’", "'").strip(_AROUND_WHOLE)
        if _CONTRADICTS_ITSELF.fullmatch(plain):
            return Reading()
        reply = _SHORT_REPLY.fullmatch(plain)
        whole = ("no" if any(reply.groups()) else "yes") if reply else _WHOLE.get(plain)
        if whole is not None:
            return Reading().take(whole, 0, len(text), rule)
    found = _ONE_DECISION.fullmatch(text)
    if found is None:
        rule, found = "declared", _last_sentence(text, _DECISION)
    if found is None:
        return None
    return Reading().take("yes" if found["yes"] else "no", *found.span("answer"), rule)


def _last_sentence(text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Return the match of a text's last sentence or line, or None where it does not match or more must be looked at."""
    stop = len(text)
    while stop and text[stop - 1] in " \n":
        stop -= 1
    least = max(0, stop - _CHARACTERS_MAX)
    begin = max(text.rfind("\n", least, stop), text.rfind(". ", least, stop)) + 1
    if not begin and least:
        return None
    found = pattern.match(text, begin)
    return None if found is None or may_hide(text) else found
