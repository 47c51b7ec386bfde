"""Which mark parts decimals in the language of a text: a comma in German and French, a point in English and Chinese.

Depends on the standard library alone. The rule counts common words of some 200 characters on either side of a place. It
is asked only where a number means two things: ``12,5`` and ``1.234``.
"""

from __future__ import annotations

from typing import Final, Literal

from nel.core.lazy_regex import lazy_pattern

Mark = Literal[",", "."]
_CHARACTERS_MAX: Final = 200
_WORD = lazy_pattern(r"[^\W\d_]+")
_LATIN_COMMA = frozenset(
    """
    der das ein eine einen einer und ist sind nicht mit für von den dem im zu auf sich auch wir es sie er antwort
    lautet ergebnis beträgt insgesamt daher somit jeder pro kostet wie viele beim nach zum zur endgültige lösung bekommt
    ergibt macht bleiben gibt schritt angaben folglich lautet dies dazu kommen hefte richtig keine zuerst sehen uns
    frage genau alle text stehen gehen vor wurde sich kurz gesagt kilometer stunden damit ihre seine dann
    le les un une et est sont du dans pas avec qui que sur elle nous donc réponse résultat finale ainsi chaque par
    coûte vaut il au aux étape relever données procédons ceci cela directement découle définition d'abord texte ce
    cette égal égale est reste combien
    el los las una es y en con para por se su del al respuesta resultado tanto total cada cuesta final entonces
    queda tiene lo paso datos esto sigue de cuadernos compra más primero veamos pregunta texto solución
    gli di che è e con per sono della del nel quindi risposta risultato finale ogni costa ha il tutti dati passo
    questo segue dal di innanzitutto domanda si ottiene breve alla dalla rimangono
    o os as um uma são não com em da na portanto resposta cada custa tem ao os dados isto segue mais vamos pergunta é à
    het een de en dat zijn niet met voor antwoord dus elk kost bedraagt
    och är att det som av för på svaret til og svar derfor hver
    jest nie się odpowiedź wynosi więc każdy oraz
    ve bir bu için cevap toplam yang adalah jadi jawaban jawabannya setiap dengan là đáp án vậy
    """.split()
)
_POINT = frozenset(
    """
    the of and is are to that it answer she he they we each per total therefore with by has have were final
    this there which be from or if as not you gets makes costs left thus hence equals result jibu ni
    kwa hivyo
    """.split()
)
_SHARED = _LATIN_COMMA & _POINT
_ACCENTED = lazy_pattern("[äöüßéèêëàâçñãõíóúáìòùîïôûœæøå]")
"""Letters that languages with a decimal comma have, and English words almost never."""
_CYRILLIC_OR_GREEK: Final = lazy_pattern("[\u0370-\u03ff\u0400-\u04ff]{2}")
_POINT_SCRIPTS: Final = lazy_pattern("[\u0900-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Indic scripts, Thai, Lao, Chinese, Japanese and Korean. Arabic is none of them: both marks are in use."""


def decimal_mark(text: str, start: int, end: int) -> Mark | None:
    """Return the decimal mark of the words around a place, or None where the words do not tell.

    >>> decimal_mark("Die Antwort lautet 12,5.", 19, 23), decimal_mark("The answer is 12,5.", 14, 18)
    (',', '.')
    >>> decimal_mark("12,5", 0, 4), decimal_mark("Ответ: 12,5", 7, 11), decimal_mark("答案是1.234", 3, 8)
    (None, ',', '.')
    """
    around = text[max(0, start - _CHARACTERS_MAX) : start] + " " + text[end : end + _CHARACTERS_MAX]
    if not around.isascii():
        if _POINT_SCRIPTS.search(around):
            return "."
        if _CYRILLIC_OR_GREEK.search(around):
            return ","
    words = _WORD.findall(around.lower())
    commas = sum(
        (word in _LATIN_COMMA and word not in _SHARED) or (not word.isascii() and _ACCENTED.search(word) is not None)
        for word in words
    )
    points = sum(word in _POINT and word not in _SHARED for word in words)
    if commas == points:
        return None
    return "," if commas > points else "."
