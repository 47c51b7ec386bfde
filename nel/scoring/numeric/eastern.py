"""Numerals in Chinese characters within a sentence, and numbers in Thai, Bengali and Swahili words: 三十六, สามสิบหก.

Depends on `nel.scoring.numeric.parsing` for Chinese numerals that stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Final
from unicodedata import normalize

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.parsing import parse_number

_CHARACTERS_MAX: Final = 80
_CHINESE: Final = lazy_pattern(
    r"(?<![第数零〇一二两兩三四五六七八九十百千万萬億亿几幾数])(?P<value>(?:[零〇一二两兩三四五六七八九十]|[百千](?![万萬億亿分]))[零〇一二两兩三四五六七八九十百千万萬億亿]{1,20}"
    r"(?:[点點][零〇一二三四五六七八九]{1,9})?)(?![零〇一二三四五六七八九十百千万萬億亿几幾多余数點点月])(?!分(?![钟鐘之]))"
)
_HAS_UNIT: Final = lazy_pattern("[十百千万萬億亿]")
"""Of a number: digits in a row may be two guesses, as in 三四."""
_ONE_SIGN: Final = lazy_pattern(
    r"\W*(?P<value>[零〇二两兩三四五六七八九十百千])(?![零〇一二两兩三四五六七八九十百千万萬億亿几幾])[^\W\d]{0,4}\W*"
)
_THAI_DIGITS: Final = {word: value for value, word in enumerate("ศูนย์ หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า".split())} | {
    "เอ็ด": 1,
    "ยี่": 2,
}
_THAI_UNITS: Final = {"สิบ": 10, "ร้อย": 100, "พัน": 10**3, "หมื่น": 10**4, "แสน": 10**5, "ล้าน": 10**6}
_THAI_WORD: Final = "|".join([*_THAI_DIGITS, *_THAI_UNITS])
_THAI: Final = lazy_pattern(rf"[\s*_:：]*(?P<value>(?:{_THAI_WORD})+)(?:\s?[\u0e00-\u0e7f]{{1,14}})?[\s.*_]*")
_THAI_WORDS: Final = lazy_pattern(_THAI_WORD)
_BENGALI_WORDS: Final = """
    শূন্য এক দুই তিন চার পাঁচ ছয় সাত আট নয় দশ এগারো বারো তেরো চৌদ্দ পনেরো ষোলো সতেরো আঠারো উনিশ বিশ একুশ বাইশ তেইশ চব্বিশ
    পঁচিশ ছাব্বিশ সাতাশ আটাশ ঊনত্রিশ ত্রিশ একত্রিশ বত্রিশ তেত্রিশ চৌত্রিশ পঁয়ত্রিশ ছত্রিশ সাঁইত্রিশ আটত্রিশ ঊনচল্লিশ চল্লিশ একচল্লিশ
    বিয়াল্লিশ তেতাল্লিশ চুয়াল্লিশ পঁয়তাল্লিশ ছেচল্লিশ সাতচল্লিশ আটচল্লিশ ঊনপঞ্চাশ পঞ্চাশ একান্ন বায়ান্ন তিপ্পান্ন চুয়ান্ন পঞ্চান্ন ছাপ্পান্ন
    সাতান্ন আটান্ন ঊনষাট ষাট একষট্টি বাষট্টি তেষট্টি চৌষট্টি পঁয়ষট্টি ছেষট্টি সাতষট্টি আটষট্টি ঊনসত্তর সত্তর একাত্তর বাহাত্তর তিয়াত্তর
    চুয়াত্তর পঁচাত্তর ছিয়াত্তর সাতাত্তর আটাত্তর ঊনআশি আশি একাশি বিরাশি তিরাশি চুরাশি পঁচাশি ছিয়াশি সাতাশি অষ্টআশি ঊননব্বই নব্বই
    একানব্বই বিরানব্বই তিরানব্বই চুরানব্বই পঁচানব্বই ছিয়ানব্বই সাতানব্বই আটানব্বই নিরানব্বই
"""
"""From 0 to 99."""
_BENGALI_UNITS: Final = {"শত": 100, "শো": 100, "শ": 100, "হাজার": 10**3, "লাখ": 10**5, "লক্ষ": 10**5, "কোটি": 10**7}
_BENGALI: Final = lazy_pattern(r"[\s*_:：]*(?P<value>[\u0980-\u09fe]+(?:\s[\u0980-\u09fe]+){0,6})[\s.।*_]*")
_BENGALI_ENDINGS: Final = ("টি", "টা", "জন", "")
_SWAHILI_WORDS: Final = {
    word: value for value, word in enumerate("sifuri moja mbili tatu nne tano sita saba nane tisa kumi".split())
} | {
    word: 10 * value
    for value, word in enumerate("ishirini thelathini arobaini hamsini sitini sabini themanini tisini".split(), 2)
}
_SWAHILI_UNITS: Final = {"mia": 100, "elfu": 1000}
_SWAHILI_WORD: Final = "|".join([*_SWAHILI_WORDS, *_SWAHILI_UNITS])
_SWAHILI: Final = lazy_pattern(
    rf"[\s*_:]*(?P<value>(?:{_SWAHILI_WORD})(?:\s(?:na\s)?(?:{_SWAHILI_WORD}))*)[\s.*_]*", re.IGNORECASE
)


def numerals_in(text: str, start: int, stop: int) -> Iterator[tuple[tuple[int, int], Fraction]]:
    """Yield the numerals of a part of a text that is not in Latin script: where each stands, and its value.

    Of Thai, Bengali and Swahili only a part that is nothing but a number and its unit is read.

    >>> [str(value) for _, value in numerals_in("一共有三十六个苹果", 0, 9)]
    ['36']
    >>> [[str(value) for _, value in numerals_in(text, 0, len(text))] for text in ("สามสิบหก", "ছত্রিশ", "三四个")]
    [['36'], ['36'], []]
    """
    part = text[start:stop]
    if part.isascii():
        found = _SWAHILI.fullmatch(text, start, stop) if stop - start <= _CHARACTERS_MAX else None
        if found is not None:
            yield found.span("value"), Fraction(_swahili(found["value"].lower().split()))
        return
    one = _ONE_SIGN.fullmatch(text, start, stop)
    for found in [one] if one is not None else _CHINESE.finditer(text, start, stop):
        value = parse_number(found["value"])
        if value is not None and (one is not None or _HAS_UNIT.search(found["value"])):
            yield found.span("value"), value
    if stop - start > _CHARACTERS_MAX:
        return
    thai, bengali = _THAI.fullmatch(text, start, stop), _BENGALI.fullmatch(text, start, stop)
    if thai is not None:
        yield thai.span("value"), Fraction(_thai(thai["value"]))
    elif bengali is not None and (count := _bengali(bengali["value"].split())) is not None:
        yield bengali.span("value"), Fraction(count)


def _thai(written: str) -> int:
    total = section = digit = 0
    for word in _THAI_WORDS.findall(written):
        if word in _THAI_DIGITS:
            digit = _THAI_DIGITS[word]
        elif word == "ล้าน":
            total, section, digit = (total + section + digit or 1) * 10**6, 0, 0
        else:
            section, digit = section + (digit or 1) * _THAI_UNITS[word], 0
    return total + section + digit


@cache
def _bengali_values() -> dict[str, int]:
    return {normalize("NFC", word): value for value, word in enumerate(_BENGALI_WORDS.split())} | {"ষোল": 16}


def _bengali(words: list[str]) -> int | None:
    """Return the number that Bengali words say; None where the first is no number. A unit may end them."""
    values = _bengali_values()
    total = digit = 0
    for place, word in enumerate(normalize("NFC", one) for one in words):
        known = next((word.removesuffix(end) for end in _BENGALI_ENDINGS if word.removesuffix(end) in values), None)
        hundreds = next((word.removesuffix(end) for end in ("শত", "শো", "শ") if word.removesuffix(end) in values), None)
        scale = next((unit for unit in _BENGALI_UNITS if word == unit), None)
        if known is not None:
            digit += values[known]
        elif hundreds is not None:
            total += 100 * values[hundreds]
        elif scale is not None:
            total, digit = total + (digit or 1) * _BENGALI_UNITS[scale], 0
        else:
            return total + digit if 0 < place == len(words) - 1 else None
    return total + digit


def _swahili(words: list[str]) -> int:
    """Return the number that Swahili words say, in which a hundred stands before its count: "mia mbili"."""
    total, unit = 0, 0
    for word in words:
        if word in _SWAHILI_UNITS:
            total, unit = total + unit, _SWAHILI_UNITS[word]
        elif word == "na":
            total, unit = total + unit, 0
        else:
            total, unit = total + (unit or 1) * _SWAHILI_WORDS[word], 0
    return total + unit
