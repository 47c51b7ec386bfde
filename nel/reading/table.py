"""The table `forms.toml`: forms, words around an answer, end tokens and versions of reading.

Depends on `nel.reading.types`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from nel.reading.types import Form


@dataclass(frozen=True)
class FormRow:
    """One row of the table."""

    form: Form
    language: str
    needs: tuple[str, ...]
    source: str
    """The pattern, for a text in small letters."""
    needed_by: str
    strength: str = ""
    """``strong`` counts before any ``plain`` one; empty where nothing is introduced."""
    decimal: str = "."
    """What parts decimals in the language."""
    kind: str = ""
    """The kind of answer that it is of, where it is of one alone."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when first used, since most rows are of other languages."""
        return re.compile(self.source)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files("nel.reading") / "forms.toml").read_text(encoding="utf-8"))


@cache
def rule_versions() -> Mapping[str, int]:
    """Return the version of the rule and that of each kind of answer."""
    versions: dict[str, int] = _table()["versions"]
    return versions


def kind_of_module(name: str) -> str:
    """Return the kind of answer whose version a module of this room belongs to, or ``rule``.

    >>> kind_of_module("letters"), kind_of_module("numerals"), kind_of_module("reader")
    ('letters', 'numbers', 'rule')
    """
    kind = "numbers" if name == "numerals" else name
    return kind if kind in rule_versions() else "rule"


@cache
def rows() -> tuple[FormRow, ...]:
    """Return the rows of the table."""
    return tuple(
        FormRow(
            form=Form[row.pop("form").upper()],
            needs=tuple(row.pop("needs")),
            source=row.pop("pattern"),
            **row,
        )
        for row in map(dict, _table()["row"])
    )


@cache
def end_tokens() -> tuple[str, ...]:
    """Return the tokens that end a model's turn."""
    return tuple(_table()["tokens"]["end"])


def native_letters() -> Mapping[str, str]:
    """Return the label that a letter of another script stands for."""
    letters: dict[str, str] = _table()["letters"]
    return letters


@cache
def verb_last_characters() -> str:
    """Return the characters of sentences of whose several numbers the last counts."""
    return str(_table()["of_several"]["last"])


@cache
def scales() -> Mapping[str, int]:
    """Return the words of all languages that multiply a number."""
    languages: dict[str, dict[str, int]] = _table()["scales"]
    return {word: scale for words in languages.values() for word, scale in words.items()}


@cache
def words_by_language() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the words around an answer by what they do, and by language."""
    return {
        role: {language: tuple(words) for language, words in languages.items()}
        for role, languages in _table()["words"].items()
    }


def words_of(*roles: str) -> tuple[str, ...]:
    """Return the words of all languages that do the same to an answer."""
    several = [words for role in roles for words in words_by_language()[role].values()]
    return tuple(dict.fromkeys(word for words in several for word in words))
