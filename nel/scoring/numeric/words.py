"""Numbers in words: ``twelve``, ``minus seven``, ``one hundred and five``, ``a dozen``, ``two thirds``.

English, German, French, Spanish, Italian, Portuguese and Russian; the other languages of nel's benchmarks write digits,
or numerals that `nel.scoring.numeric.parsing` reads. Depends on the standard library alone. Note: only a text that is
all of one number is read. Within a sentence "one" and "second" are mostly no numbers; there digits are searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern

_CHARACTERS_MAX: Final = 120
_MINUS: Final = frozenset("minus negative moins menos meno минус".split())


class _Language(NamedTuple):
    """The words of one language."""

    values: dict[str, int]
    """Words for numbers below a hundred."""
    scales: dict[str, int]
    """Hundred and above: they multiply what stands before them."""
    joining: frozenset[str]
    """Words between parts, such as "and"."""
    teens_follow: bool = False
    """Whether ten to nineteen may follow a ten: "soixante-dix"."""


def _numbered(words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    return {word: first + step * index for index, word in enumerate(words.split())}


def _english() -> _Language:
    values = _numbered(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen"
    )
    values |= _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10) | {
        "a": 1,
        "an": 1,
        "nought": 0,
    }
    scales = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
    return _Language(values, scales, frozenset({"and"}))


def _german() -> _Language:
    ones = _numbered("eins zwei drei vier fünf sechs sieben acht neun", 1)
    tens = _numbered("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", 20, 10) | {"dreissig": 30}
    values = {"null": 0, "ein": 1, "eine": 1, **ones, "zehn": 10, "elf": 11, "zwölf": 12, **tens}
    values |= _numbered("dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn", 13)
    for word, value in {**ones, "ein": 1}.items():
        values |= {f"{word}und{ten}": value + more for ten, more in tens.items()}
    scales = {"dutzend": 12, "hundert": 100, "tausend": 1000, "million": 10**6, "millionen": 10**6}
    scales |= {"milliarde": 10**9, "milliarden": 10**9}
    return _Language(values, scales, frozenset({"und"}))


def _french() -> _Language:
    values = _numbered("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize")
    values |= _numbered("vingt trente quarante cinquante soixante", 20, 10) | {"une": 1, "quatre_vingt": 80}
    scales = {"cent": 100, "cents": 100, "mille": 1000, "million": 10**6, "millions": 10**6, "milliard": 10**9}
    return _Language(values, scales | {"milliards": 10**9, "douzaine": 12}, frozenset({"et"}), teens_follow=True)


def _spanish() -> _Language:
    values = _numbered(
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
        "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
        "veintiocho veintinueve"
    )
    values |= _numbered("treinta cuarenta cincuenta sesenta setenta ochenta noventa", 30, 10) | {"un": 1, "una": 1}
    hundreds = _numbered("cien doscientos trescientos cuatrocientos quinientos seiscientos setecientos", 100, 100)
    values |= hundreds | {"ciento": 100, "ochocientos": 800, "novecientos": 900}
    del values["once"]  # far more often English
    scales = {"mil": 1000, "millón": 10**6, "millones": 10**6, "docena": 12}
    return _Language(values, scales, frozenset({"y"}))


def _italian() -> _Language:
    ones = _numbered("uno due tre quattro cinque sei sette otto nove", 1)
    values = {"zero": 0, "un": 1, "una": 1, **ones, "tré": 3}
    values |= _numbered(
        "dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove venti", 10
    )
    tens = _numbered("venti trenta quaranta cinquanta sessanta settanta ottanta novanta", 20, 10)
    values |= tens
    for ten, more in tens.items():
        for word, value in ones.items():
            values[(ten[:-1] if word[0] in "uo" else ten) + ("tré" if word == "tre" else word)] = more + value
            values[(ten[:-1] if word[0] in "uo" else ten) + word] = more + value
    scales = {"cento": 100, "mille": 1000, "mila": 1000, "milione": 10**6, "milioni": 10**6, "dozzina": 12}
    return _Language(values, scales, frozenset({"e"}))


def _portuguese() -> _Language:
    values = _numbered(
        "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete "
        "dezoito dezenove vinte"
    )
    values |= _numbered("trinta quarenta cinquenta sessenta setenta oitenta noventa", 30, 10)
    values |= {"uma": 1, "duas": 2, "quatorze": 14, "dezasseis": 16, "dezassete": 17, "dezanove": 19}
    values |= {"cem": 100, "cento": 100, "duzentos": 200, "trezentos": 300, "quatrocentos": 400, "quinhentos": 500}
    scales = {"mil": 1000, "milhão": 10**6, "milhões": 10**6, "dúzia": 12}
    return _Language(values, scales, frozenset({"e"}))


def _russian() -> _Language:
    values = _numbered(
        "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать "
        "пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать"
    )
    values |= {"нуль": 0, "одна": 1, "одно": 1, "две": 2, "тридцать": 30, "сорок": 40}
    values |= _numbered("пятьдесят шестьдесят семьдесят восемьдесят девяносто сто двести триста", 50, 10)
    values |= {"сто": 100, "двести": 200, "триста": 300, "четыреста": 400, "пятьсот": 500}
    scales = {"тысяча": 1000, "тысячи": 1000, "тысяч": 1000, "миллион": 10**6, "миллиона": 10**6, "миллионов": 10**6}
    return _Language(values, scales, frozenset())


_LANGUAGES: Final = (_english, _german, _french, _spanish, _italian, _portuguese, _russian)
_PARTS: Final = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "thirds": 3,
    "quarter": 4,
    "quarters": 4,
    "fourth": 4,
    "fourths": 4,
}
_PARTS_MORE: Final = _numbered("fifth sixth seventh eighth ninth tenth", 5)
_NOT_ALONE: Final = {(word,) for word in "a an cent dozen hundred thousand million billion trillion".split()}
"""They multiply a number, or are another word: "cent" is French for a hundred, and money in English."""
_WORD = lazy_pattern(r"[^\W\d_]+")
_BEHIND_SCALE: Final = r"(?:(?<=thousand)|(?<=million)|(?<=billion)),\s"
"""A comma within a number: "one thousand, two hundred"."""
_GAP = lazy_pattern(rf"[ \u00a0]|\s?[-‐‑]\s?|{_BEHIND_SCALE}", re.IGNORECASE)
_JOINING: Final = frozenset("and und et y e".split())
_NOT_COUNTED = lazy_pattern(r"\b(?:the|these|those|both|all|below|above|than|of|non|sub)[\s-]\Z", re.IGNORECASE)
"""Words before a number in words that is none: "the two factors", "below zero"."""
_MOSTLY_NO_NUMBER: Final = frozenset(
    """
    null dois one a an un une ein eine eins uno una um uma один одна одно sei due nove mil sept dix cent elf dos half
    third thirds
    quarter fourth fifth sixth seventh eighth ninth tenth six cinco tre
    """.split()
) - frozenset("six sept dix dos tre nove cinco elf due sei".split())
_LETTERS_ONLY = lazy_pattern(rf"[^\W\d_]+(?:(?:\s+|\s?[-‐‑]\s?|{_BEHIND_SCALE})[^\W\d_]+)*", re.IGNORECASE)


def words_value(text: str) -> Fraction | None:
    """Return the value of a text that is all of one number in words, or None.

    >>> [str(words_value(text)) for text in ("Twelve", "minus twenty-one", "one hundred and five", "a dozen")]
    ['12', '-21', '105', '12']
    >>> [str(words_value(text)) for text in ("two thirds", "two and a half", "vingt-deux", "einundzwanzig", "the one")]
    ['2/3', '5/2', '22', '21', 'None']
    >>> str(words_value("half a million"))
    '500000'
    """
    if len(text) > _CHARACTERS_MAX or not _LETTERS_ONLY.fullmatch(text):
        return None
    words = _WORD.findall(text.lower())
    if words[0] not in _all_words():
        return None
    words = _with_fourscore(words)
    sign = -1 if words[0] in _MINUS else 1
    words = words[1:] if sign < 0 else words
    value = _fraction(words)
    return None if value is None else sign * value


def words_in(text: str, start: int, stop: int) -> Iterator[tuple[tuple[int, int], Fraction]]:
    """Yield the numbers in words of a part of a text: where each stands, and its value.

    >>> [(place, str(value)) for place, value in words_in("she sold twenty-four clips", 0, 26)]
    [((9, 20), '24')]
    """
    known = _all_words()
    if _counting_words().isdisjoint(_WORD.findall(text[start:stop].lower())):
        return
    run: list[re.Match[str]] = []
    for word in [*_WORD.finditer(text, start, stop), None]:
        if (
            word is not None
            and word[0].lower() in known
            and (not run or _GAP.fullmatch(text, run[-1].end(), word.start()))
        ):
            run.append(word)
            continue
        if run:
            yield from _value_of_run(text, run)
        run = [word] if word is not None and word[0].lower() in known else []


def _value_of_run(text: str, run: list[re.Match[str]]) -> Iterator[tuple[tuple[int, int], Fraction]]:
    """Yield the longest number at the start of a run of words, its joining words at the end left off."""
    for end in range(len(run), 0, -1):
        first, last = run[0].start(), run[end - 1].end()
        if end == 1 and (
            text[first:last].lower() in _MOSTLY_NO_NUMBER or _NOT_COUNTED.search(text, max(0, first - 12), first)
        ):
            return
        value = words_value(text[first:last])
        if value is not None:
            yield (first, last), value
            return


@cache
def _all_words() -> frozenset[str]:
    words = {word for language in _tables() for word in (*language.values, *language.scales, *language.joining)}
    parts = {*_PARTS, *_PARTS_MORE, *(f"{word}s" for word in _PARTS_MORE)}
    return frozenset((words | parts | _MINUS | {"quatre", "vingts"}) - {"y", "e", "et", "and", "und"}) | _JOINING


@cache
def _counting_words() -> frozenset[str]:
    """Return the words of which a number has one: joining words alone are none."""
    return _all_words() - _JOINING


def _with_fourscore(words: list[str]) -> list[str]:
    """Return the words with French "quatre vingt" as one."""
    joined: list[str] = []
    for word in words:
        if word in ("vingt", "vingts") and joined[-1:] == ["quatre"]:
            joined[-1] = "quatre_vingt"
        else:
            joined.append(word)
    return joined


def _fraction(words: list[str]) -> Fraction | None:
    """Return the value of words, fractions included: "two thirds", "two and a half", "minus one half"."""
    whole = _whole(tuple(words))
    if whole is not None or len(words) < 2:  # noqa: PLR2004 - "half" alone is no number: it is half of something
        return None if whole is None else Fraction(whole)
    parts = _PARTS | _PARTS_MORE | {f"{word}s": value for word, value in _PARTS_MORE.items()}
    if words[0] == "half" and words[1] in ("a", "an") and len(words) == 3:  # noqa: PLR2004 - "half a million"
        scale = _english().scales.get(words[2])
        return None if scale is None else Fraction(scale, 2)
    if words[-1] not in parts:
        return None
    head = words[:-1]
    for split in [0, *(place + 1 for place, word in enumerate(head) if word == "and")]:
        before = _whole(tuple(head[: split - 1])) if split else 0
        over = 1 if split and head[split:] == ["a"] else _whole(tuple(head[split:]))
        if before is not None and over is not None:
            unit = _english().scales.get(head[split - 2], 1) if head[split:] == ["a"] and split > 1 else 1
            return before + Fraction(over * unit, parts[words[-1]])  # "a dozen and a half" is 18
    return None


@cache
def _tables() -> tuple[_Language, ...]:
    return tuple(language() for language in _LANGUAGES)


def _whole(words: tuple[str, ...]) -> int | None:
    """Return the whole number that words of one language name, or None."""
    for language in _tables():
        if all(word in language.values or word in language.scales or word in language.joining for word in words):
            value = _summed(words, language)
            if value is not None:
                return value
    return None


def _summed(words: tuple[str, ...], language: _Language) -> int | None:
    """Return the sum of words: each is smaller than the one before, but for scales, which multiply."""
    total, section, last, joined = 0, 0, 0, False
    for word in words:
        if word in language.joining:
            if joined or not (total or section):
                return None
            joined = True
            continue
        if word in language.scales and (scale := language.scales[word]):
            if scale == 100:  # noqa: PLR2004
                section = (section or 1) * scale
            elif total and scale >= 1000 and total % (scale * 1000):  # noqa: PLR2004 - "two thousand three million"
                return None
            else:
                total += (section or 1) * scale
                section = 0
            last, joined = scale, False
            continue
        value = language.values[word]
        fits = not last or (value and (_fits(last, value, language)))
        if not fits:
            return None
        section += value
        last, joined = value, False
    return None if joined or not words or words in _NOT_ALONE else total + section


def _fits(last: int, value: int, language: _Language) -> bool:
    """Return whether a number may follow another one: "twenty one", not "one twenty" nor "twenty eleven"."""
    if last >= 100:  # noqa: PLR2004
        return value < last
    below = 20 if language.teens_follow and last in (10, 60, 80) else 10
    return last >= 10 and (last % 10 == 0) and value < below and (last > 10 or language.teens_follow)  # noqa: PLR2004
