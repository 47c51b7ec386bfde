"""Recognizes columns by the words of their names: the gold answer, the question, or neither.

Words are English, German, French, Spanish and Chinese, in any case, joined by anything or nothing
(``goldAnswer``, ``GOLD_ANSWER``, ``goldanswer``). Each name has a rank as the gold answer; a table
must have exactly one column of the best rank. The position of a column does not matter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_STRONG: Final = frozenset(
    "ground expected expect gold golden golds ideal correct reference references truth target targets"
    " answer answers gt ref refs"
    " antwort antworten sollantwort musterantwort referenzantwort musterlosung musterloesung richtig richtige richtiger"
    " korrekt korrekte erwartet erwartete erwartetes referenz muster ziel soll wahrheit"
    " reponse reponses attendu attendue attendus correcte bonne verite cible"
    " respuesta respuestas correcta correcto esperado esperada referencia verdad objetivo".split()
)
_PLAIN: Final = frozenset(
    "label labels key completion solution solutions cop losung loesung ergebnis schlussel schluessel"
    " corrige etiquette cle solucion soluciones etiqueta clave".split()
)
_WEAK: Final = frozenset(
    "output outputs response responses translation summary ausgabe sortie salida".split()
)
_GROUPS: Final = (_STRONG, _PLAIN, _WEAK)
_STRONG_HAN: Final = "答案 正确 正確 标准 標準 参考 參考 目标 目標 真值 期望 预期 正解".split()
_PLAIN_HAN: Final = "标签 標籤 解答 回答 输出".split()
_NEUTRAL: Final = frozenset(
    "the a of is final best right true short long human official accepted acceptable desired standard exact full text"
    " texts value values option options choice letter index idx num number string str result en de fr es zh"
    " der die das la le el opcion valeur wert buchstabe id".split()
)
"""Words that say neither for nor against beside a word for a gold answer."""
_AGAINST: Final = frozenset(
    "incorrect wrong false falsch falsche faux incorrecto incorrecta distractor model models predicted prediction"
    " generated system baseline explanation explanations rationale reasoning type language lang category source url"
    " link date time start end count length score rating confidence error modell modelo modele erklarung".split()
)
"""Words that exclude a gold answer: it is a model's answer, or a property of an answer."""
_QUESTIONS: Final = (
    "question questions q problem prompt query instruction frage fragen aufgabe pregunta problema probleme consigne"
    " enonce 问题 题目 問題 提问 user_input input text sentence source document title eingabe entree texte entrada texto"
    " 输入 文本".split()
)
_NUMBERING: Final = frozenset("id ids idx index number nr no num hash sha uuid guid".split())
_COMMON: Final = _NUMBERING | frozenset(
    "name category subject topic context passage choices options level difficulty kategorie thema kontext categorie"
    " sujet contexte categoria tema contexto 序号 编号 类别".split()
)
_NAME_WORDS_MAX: Final = 4
_WORD: Final = re.compile(r"[a-z]+|[\u3040-\u30ff\u3400-\u9fff]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART: Final = re.compile("|".join(sorted(_STRONG | _PLAIN | _WEAK, key=len, reverse=True)))
_GLUED: Final = re.compile(f"(?:{_PART.pattern})+")


def fold_name(name: str) -> str:
    """Return a name in lower case, its words apart and its letters without accents.

    >>> fold_name("GoldAnswer"), fold_name("Réponse_attendue"), fold_name("Musterlösung")
    ('gold answer', 'reponse attendue', 'musterlosung')
    """
    words = _CAMEL.sub(" ", unicodedata.normalize("NFKD", name))
    return " ".join(_WORD.findall(re.sub(r"[\u0300-\u036f]", "", words).lower()))


@lru_cache(maxsize=4096)
def gold_rank(name: str) -> int | None:
    """Return the rank of a name as that of the gold answer, 0 for the clearest; None if it is not.

    Two words for a gold answer rank before one, a strong word before a plain one, that before a
    weak one. Within these, a name without further words is first. A single word beside an unknown
    one has no rank.
    """
    words = fold_name(name).split()
    counts = [0, 0, 0]  # strong, plain and weak words
    n_neutral = n_unknown = 0
    for word in words:
        hits = [sum(map(word.count, _STRONG_HAN)), sum(map(word.count, _PLAIN_HAN)), 0]
        if _GLUED.fullmatch(word):
            parts = _PART.findall(word)
            hits = [sum(part in group for part in parts) for group in _GROUPS]
        counts = list(map(sum, zip(counts, hits, strict=True)))
        if not any(hits):
            n_neutral += word in _NEUTRAL
            n_unknown += word not in _NEUTRAL
    n_words = sum(counts)
    if n_words == 0 or _AGAINST & set(words) or (n_unknown and n_words == 1):
        return None
    clearest = next(rank for rank, count in enumerate(counts, start=1) if count)
    # Even ranks are 0 for two words with a strong one, then 2, 4 and 6; further words add one.
    rank = 0 if n_words > 1 and clearest == 1 else 2 * clearest
    return rank + bool(n_neutral or n_unknown)


def gold_columns(names: Sequence[str]) -> list[str]:
    """Return the names of the best rank as the gold answer."""
    ranks = {name: rank for name in names if (rank := gold_rank(name)) is not None}
    # "a" is an answer only beside a question, as in tables with the columns Q and A.
    if not ranks and question_column(names) is not None:
        return [name for name in names if fold_name(name) == "a"]
    return [name for name, rank in ranks.items() if rank == min(ranks.values())]


def question_column(names: Sequence[str]) -> str | None:
    """Return the name of the question's column, None where no name says so."""
    # Reversed, so that the first of two columns that fold to one name wins.
    by_name = {fold_name(name).replace(" ", "_"): name for name in reversed(names)}
    for word in _QUESTIONS:
        if word in by_name:
            return by_name[word]
    words = {name: set(fold_name(name).split()) for name in names}
    eligible = [name for name in names if not words[name] & (_AGAINST | _NUMBERING)]
    for word in _QUESTIONS:
        for name in eligible:
            if word in words[name]:
                return name
    return None


def is_about(name: str) -> bool:
    """Return whether a column numbers rows, or holds remarks or answers of a model."""
    return bool((_AGAINST | _NUMBERING | _COMMON) & set(fold_name(name).split()))


def is_common(name: str) -> bool:
    """Return whether a name is common for a column in tables of questions."""
    words = fold_name(name).split()
    if len(words) > _NAME_WORDS_MAX:
        return False
    if gold_rank(name) is not None or question_column([name]) is not None:
        return True
    return not _COMMON.isdisjoint(words)
