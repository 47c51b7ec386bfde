"""Labels that a response writes in another alphabet: a Cyrillic А for A, Б for the second option, ب or Β for B.

Only a letter that stands where a label alone can stand is replaced: А, В and С are also words of Russian. Depends on
the standard library alone.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern

_LABELS: Final = {
    **dict(zip("АСНАБГД", "ACHABDE", strict=True)),
    **dict(zip("абгд", "ABDE", strict=True)),
    **dict(zip("ΑΒΓΔΕ", "ABCDE", strict=True)),
    **dict(zip("αβγδε", "ABCDE", strict=True)),
    **dict(zip("أبجد", "ABCD", strict=True)),
    **dict(zip("אבגד", "ABCD", strict=True)),
}
"""Letters by their place in their alphabet, and those that only look like a Latin one.

В and Е are not among them: in Russian В looks like B and is the third letter, and Е looks like E and is the sixth.
"""
_ALONE: Final = lazy_pattern(
    rf"(?:(?<=[:：—–(\[*\s])|\A)(?<![^\W\d_])[{''.join(_LABELS)}]"
    r"(?=[*_\"”»`]*(?:[)\].][*_.:]*\s|[)\].]*[*_\"”»`]*[^\S\n]*(?:\n|\Z)))"
)
_DECLARED_MAX: Final = 40
_DECLARES: Final = lazy_pattern(r"(?:\A|[:：—–]|\n|(?:هي|هو|είναι|היא|это))[\s*_(\[\"“«`]*\Z")
_HAS_LATIN: Final = re.compile(r"(?<![A-Za-zÀ-ɏ])[A-Z](?![A-Za-zÀ-ɏ'’])")


def with_latin_labels(text: str) -> str:
    """Return a response in the same length, its labels of another alphabet as Latin capitals.

    A response that writes Latin capitals too is left as it is: there a letter of another alphabet may name something.

    >>> with_latin_labels("Ответ: А"), with_latin_labels("А это верно"), with_latin_labels("Ответ: В")
    ('Ответ: A', 'А это верно', 'Ответ: В')
    """
    if text.isascii() or _HAS_LATIN.search(text):
        return text
    return _ALONE.sub(lambda found: _label(text, found), text)


def _label(text: str, found: re.Match[str]) -> str:
    before = text[max(0, found.start() - _DECLARED_MAX) : found.start()]
    return _LABELS[found[0]] if _DECLARES.search(before) else found[0]
