"""Places where a response declares its answer, from the last to the first, in whatever form it declares.

``Answer: …``, ``the answer is …``, a heading "Final Answer" with the next line, ``<answer>…</answer>``, ``\\boxed{…}``,
``#### …`` and their like in ten languages. What stands at a place, and whether it counts, is for the kinds of answers
to decide. Depends on the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern

_BETWEEN: Final = r"""
    (?: \s++ (?: letter | option | choice | number | key )\b )?
    (?: [*_]* \s* \( [^()\n]{0,60} \) )?                                    # answer (arabic numerals) is
    (?: \s++ (?: to | for | of | in | on | here | then | that | we | i | should | must | has | have | would
    | therefore
             | thus | really | clearly | simply | now | choice | selected | given )\b [^.!?;:：=\n]{0,80}? )?
"""
_VERB: Final = r"""
    (?:
        ['’]s\b
      | [\s*_"'`\])]*+ (?: -{1,2}> | [:：=|⇒→➜➔] (?! \w*// ) | (?<=\s)[-–—](?=\s) )
      | [\s*_,]*+ (?: therefore | thus | hence | then | i\s+(?:think|believe|guess|would\s+say) )? [\s*_,]*+
        \b (?: is | was | be | been | are | equals | becomes | seems? | must\s+be | would\s+be | should\s+be
        | will\s+be
             | has\s+to\s+be | comes?\s+(?:out\s+)?(?:to(?:\s+be)?|as) | turns\s+out\s+(?:to\s+be|as) ) \b
    )
    (?: \s* [:：=] )?
"""
_FOREIGN_WORDS: Final = r"""
    (?: \s++ [^\W\d_]++ ){0,4}?
    (?: \s*+ (?: corre[ct]t[aoe]? | corect | certa | exact[ae] | final[e]? | finaux | endgültige | richtige
    | korrekte | правильный | окончательный
      | итоговый | الصحيحة | النهائية | الصحيح | النهائي | de\s+la\s+pregunta | à\s+la\s+question
      | auf\s+die\s+frage | alla\s+domanda
      | à\s+pergunta | на\s+вопрос | zu\s+dieser\s+frage | a\s+la\s+pregunta | donc | also | por\s+tanto
      | portanto | quindi | opción | option | letra | lettre )
      \b )*
"""
_FOREIGN_VERB: Final = r"""
    (?:
        [\s*_"]*+ [:：=]
      | \s* (?: [—–-] (?=\s) )
      | \s*+ \b (?: ist | lautet | wäre | heißt | beträgt | est | serait | vaut | es | sería | son | è | sarebbe
      | é | seria | là | это | равен | равно | равна | будет
                  | هي | هو | تكون | ni | adalah | là | to | jest | är | er | je | on | είναι | היא | הוא ) \b
      | \s* (?: 是 | 为 | 為 | 选 | 選 | は | が | 就是 | 应为 | 应该是 | 應該是 | [은는] | คือ | হল[োঃ]? )
    )
    (?: \s* [:：=] )?
"""
_NOUN: Final = lazy_pattern(rf"(?<![a-z]) answer {_BETWEEN} {_VERB} [\s*_:：=]*+", re.IGNORECASE | re.VERBOSE)
_HEADING: Final = lazy_pattern(
    r"""
    (?: answer | solution | result | response | verdict | antwort | lösung | réponse | respuesta | risposta | resposta
      | ответ | 答案 | 答え | الإجابة | الجواب )
    [^\S\n]* s? [*_\#\t :：|]*+ \n [\s*_`>|:⇒→-]*+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OTHER_NOUN: Final = lazy_pattern(
    r"""
    (?<![a-z])
    (?: solution | conclusion | result | selection | verdict | decision | prediction | label | category | classification
      | sentiment )
    [\s*_"']*+ (?: [:：=] | \b (?: is | was | would\s+be ) \b ) [\s*_:：=]*+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OPTION_NOUN: Final = lazy_pattern(
    r"""
    (?<![a-z]) (?: option | choice | one | statement )
    (?: \s++ (?: letter | option | choice | here | that\s+[^.!?\n]{0,60}? ) )? [\s*_"']*+
    (?: [:：=|] | (?<=\s)[-–—](?=\s) | \b (?: is | was | would\s+be | should\s+be | must\s+be | be ) \b )
    [\s*_:：=]*+ (?: (?: option | choice | letter | answer ) \b \s*+ )?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FOREIGN: Final = lazy_pattern(
    rf"""
    (?: antwort | lösung | ergebnis | réponse | reponse | résultat | respuesta | risposta | soluzione | resposta | ответ
      | الإجابة | الاجابة | الجواب | 答案 | 答え | 正解 | 回答 | 解答 | 故选 | 故選 | 应选 | 应该选
      | 選択肢 | 정답 | (?<![가-힣])답 | उत्तर | cevap | yanıt | jibu | jawaban | antwoord | odpowiedź | svar(?:et)?
      | vastaus | válasz | răspuns(?:ul)? | odpověď | đáp\ án | απάντηση | תשובה | คำตอบ | উত্তর | సమాధానం )
    {_FOREIGN_WORDS} (?: {_FOREIGN_VERB} | (?<=[选選]) | (?<=उत्तर)\ (?=[*_(]*[A-Z]\b) ) [\s*_:：=]*+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ANS: Final = lazy_pattern(r"(?<![a-z])ans\s*[:=][\s*_]*+", re.IGNORECASE)
_TAG: Final = lazy_pattern(
    r"(?:answer|ans|result|solution|choice|option|letter|response|output|final|label|verdict|conclusion)s?\s*[>\]]\s*+",
    re.IGNORECASE,
)
_TAG_OPENS: Final = lazy_pattern(r"[<\[]\s*(?:(?:final|my|correct)[_\s-]?)?\Z", re.IGNORECASE)
_BOX: Final = lazy_pattern(r"\\(?:boxed|fbox|framebox)\s*\{")
_UNESCAPED_BOX: Final = lazy_pattern(r"boxed\{(?=[-−]?[\d\\])")
"""A box whose backslash was lost as an escape: ``boxed{204}``."""
_BARE_BOX: Final = lazy_pattern(
    r"\\(?:boxed|fbox)[^\S\n]+(?=[-−+]?\d|\\[dt]?frac)(?P<answer>(?:\\[dt]?frac|[^\s$\\])+)"
)
"""A box without braces, which its author means to hold all that follows: ``\\boxed 204``."""
_HASHES: Final = lazy_pattern(r"####[^\S\n]*(?=[^\s#])")
_OPENS_HEADING: Final = lazy_pattern(
    r"(?:\A|\n)[\s*_#|>\[\d.)-]*(?:(?:the|my|our|final|correct|short|model|la|die|le|el|richtige|endgültige|step)\s+(?:\d+[:.]?\s*)?)*[*_]*\Z",
    re.IGNORECASE,
)
_OF_EACH: Final = lazy_pattern(
    r"\b(?:each|every|any|per|another|other|wrong|incorrect|by|second|third|next|alternative|backup|runner-up)[*_]*\s+[*_]*"
    r"(?:(?:answer|of\s+the|best|possible)\s+)?\Z",
    re.IGNORECASE,
)
"""Before "option:", which then begins a list or is not the answer: "each option:", "my second choice:"."""
_INFINITIVE: Final = lazy_pattern(r"\b(?:to|can|cannot|can['’]t|could|please)[^\S\n]+\Z", re.IGNORECASE)
_BELOW: Final = lazy_pattern(r"[\s*_`>|:-]*+(?=\S)")
_BOX_CHARACTERS_MAX: Final = 4_000
_SCOPE_CHARACTERS_MAX: Final = 1_000
"""Characters after a declaration in which its answer is looked for."""
_DECLARATIONS_MAX: Final = 500
"""Declarations at the end of a response that are looked at."""


class Declaration(NamedTuple):
    """A place where a response declares an answer: ``text[end:stop]`` is where the answer stands."""

    start: int
    """Where the declaring words begin."""
    end: int
    stop: int
    """Where its answer ends at the latest: the end of the line, or the closing tag or brace."""
    form: str


_Patterns = Sequence[tuple[re.Pattern[str], str]]
"""Patterns to try where a declaring word stands, and the form that each shows."""
_BOXES: Final = ("boxed", "fbox", "framebox")
_NOUNS: Final[_Patterns] = ((_HEADING, "heading"), (_OTHER_NOUN, "declared"))
_ENGLISH: Final[dict[str, _Patterns]] = {
    "answer": ((_NOUN, "declared"), (_HEADING, "heading"), (_TAG, "tag")),
    "ans:": ((_ANS, "declared"),),
    "ans>": ((_TAG, "tag"),),
    **dict.fromkeys(_BOXES, ()),
    "####": ((_HASHES, "hashes"),),
    "solution": (*_NOUNS, (_TAG, "tag")),
    "result": (*_NOUNS, (_TAG, "tag")),
    "verdict": (*_NOUNS, (_TAG, "tag")),
    "conclusion": _NOUNS,
    "output>": ((_TAG, "tag"),),
    "final>": ((_TAG, "tag"),),
    "response>": ((_TAG, "tag"),),
}
_LATIN: Final[dict[str, _Patterns]] = dict.fromkeys(
    (
        *("antwort", "ergebnis", "reponse", "respuesta", "risposta", "soluzione", "resposta"),
        *("cevap", "jibu", "jawaban", "antwoord", "svar", "vastaus"),
    ),
    ((_FOREIGN, "declared"), (_HEADING, "heading")),
)
_OTHER_SCRIPTS: Final[dict[str, _Patterns]] = dict.fromkeys(
    (
        *(
            "lösung",
            "réponse",
            "résultat",
            "ответ",
            "الإجابة",
            "الاجابة",
            "الجواب",
            "答案",
            "答え",
            "正解",
            "回答",
            "解答",
            "故选",
            "故選",
        ),
        *("应选", "应该选", "選択肢", "정답", "답", "उत्तर", "yanıt", "odpowiedź", "válasz", "răspuns", "odpověď"),
        *("đáp án", "απάντηση", "תשובה", "คำตอบ", "উত্তর", "సమాధానం"),
    ),
    ((_FOREIGN, "declared"), (_HEADING, "heading")),
)
OF_OPTIONS: Final[dict[str, _Patterns]] = {
    "option": ((_OPTION_NOUN, "declared"), (_TAG, "tag")),
    "choice": ((_OPTION_NOUN, "declared"), (_TAG, "tag")),
    "letter>": ((_TAG, "tag"),),
    "selection": _NOUNS,
}
"""Further words, for answers that are options."""
OF_LABELS: Final[dict[str, _Patterns]] = dict.fromkeys(
    ("label", "category", "classification", "sentiment", "prediction", "decision"), (*_NOUNS, (_TAG, "tag"))
)
"""Further words, for answers that are labels of a classification."""


def declarations(text: str, further: Mapping[str, _Patterns] = {}) -> Iterator[Declaration]:
    """Yield the declarations of a response, from the last to the first.

    The text is searched from its end for the words that declarations begin with, and a pattern is matched only there: a
    long response costs little more than its last declaration.

    Args:
        further: Words beside those of every kind of answer, such as `OF_OPTIONS`.

    >>> text = "Answer: A is tempting.\\n\\n<answer>B</answer>"
    >>> [text[one.end : one.stop] for one in declarations(text)]
    ['B', 'A is tempting.']
    """
    lowered = _lowered(text)
    words = {**_ENGLISH, **_LATIN, **further} if text.isascii() else {**_ENGLISH, **_LATIN, **_OTHER_SCRIPTS, **further}
    places = {word: place for word in words if (place := lowered.rfind(word)) >= 0}
    for _ in range(_DECLARATIONS_MAX):
        if not places:
            return
        word = max(places, key=places.__getitem__)
        place = places[word]
        found = _box_at(text, place) if word in _BOXES else _at(text, place, words[word])
        if found is not None:
            yield found
        earlier = lowered.rfind(word, 0, place)
        if earlier < 0:
            del places[word]
        else:
            places[word] = earlier


def _lowered(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    # A few letters, such as İ, grow when lowered, and places must stay comparable.
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _at(text: str, place: int, patterns: _Patterns) -> Declaration | None:
    """Return what is declared by a word that stands at a place, or None where it declares nothing."""
    for pattern, form in patterns:
        match = pattern.match(text, place)
        if match is None:
            continue
        if form == "tag":
            opening = _TAG_OPENS.search(text, max(0, place - 12), place)
            if opening is None:
                continue
            closing = text.find(text[opening.start()] + "/", match.end())
            return Declaration(
                opening.start(), match.end(), closing if closing >= 0 else _line_end(text, match.end()), form
            )
        if form == "heading" and not _OPENS_HEADING.search(text, max(0, place - 60), place):
            continue
        if pattern is _OPTION_NOUN and _OF_EACH.search(text, max(0, place - 30), place):
            continue
        if form == "declared" and _INFINITIVE.search(text, max(0, place - 12), place):
            continue
        end = match.end()
        if _line_end(text, end) > end:
            return Declaration(place, end, _line_end(text, end), form)
        below = _BELOW.match(text, end)  # nothing stands behind it on its line: the next line holds the answer
        return Declaration(place, below.end(), _line_end(text, below.end()), "heading") if below else None
    return None


def _box_at(text: str, place: int) -> Declaration | None:
    match = _BOX.match(text, place - 1) if place else None
    if match is None and not text[max(0, place - 1) : place].isalnum():
        match = _UNESCAPED_BOX.match(text, place)
    if match is None:
        bare = _BARE_BOX.match(text, place - 1) if place else None
        return None if bare is None else Declaration(place - 1, *bare.span("answer"), "box")
    depth = 1
    for position in range(match.end(), min(len(text), match.end() + _BOX_CHARACTERS_MAX)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return Declaration(match.start(), match.end(), position, "box")
    return None


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place, place + _SCOPE_CHARACTERS_MAX)
    return min(len(text), place + _SCOPE_CHARACTERS_MAX) if end < 0 else end
