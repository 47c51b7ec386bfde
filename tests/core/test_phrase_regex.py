"""A pattern of phrases finds what it would find without looking for its words first."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from nel.core.phrase_regex import PhrasePattern, digest
from nel.core.phrase_words import WORDS
from tests.answer_forms import blind, informed

MISSING_MAX = 6
"""Patterns of which the table may not know yet: they are read as rightly as the others, only slower."""
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "phrase_words.py"


@pytest.fixture(scope="module")
def derivation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("phrase_words_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_table_has_the_words_of_the_patterns_as_they_are_now(derivation: ModuleType) -> None:
    """A pattern that was changed has none, and is searched always, which costs: `make phrases`."""
    written = ast.parse(derivation.table()).body[-1]
    assert isinstance(written, ast.AnnAssign)
    assert isinstance(written.value, ast.Dict)
    derived = ast.literal_eval(written.value)
    assert {name: words for name, words in WORDS.items() if derived.get(name, words) != words} == {}
    assert len(derived.keys() - WORDS.keys()) <= MISSING_MAX


def test_patterns_find_in_generated_answers_what_they_find_without_their_words(derivation: ModuleType) -> None:
    """The words of a pattern are necessary for a match, in ten languages."""
    kinds = ("letter", "number", "yes_no", "text", "label")
    forms = [form for half in (blind, informed) for kind in kinds for form in half.generate(kind, 12, 7)]
    parts = {part for form in forms for part in re.split(r"(?<=[.!?。\n])", form.response[-400:]) if part.strip()}
    assert len(parts) > 200
    for text, flags in derivation.patterns():
        plain, guarded = re.compile(text, flags), PhrasePattern(text, flags)
        missed = [part for part in sorted(parts) if guarded.search(part) is None and plain.search(part)]
        assert missed == [], text[:60]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\b(?:can(?:not|['’]t)|unable\s+to)\s+(?:answer|say)\b", {"cannot", "can t ", "unable"}),
        (r"\bmis\w+\s+reading\b", {"reading"}),
        (r"\b(?:or|so)\b", {" or ", " so "}),
        (r"不是|并非", {"不是", "并非"}),
        (r"but|;", {"but", ";"}),
        (r"\w+", None),
        (r"(?:wait)?\s*", None),
        (r"[^a]x?", None),
    ],
)
def test_words_are_derived_from_the_syntax_tree(derivation: ModuleType, pattern: str, words: set[str] | None) -> None:
    """Of a sequence the part counts that is the most seldom; what may match without a word needs none."""
    found = derivation.necessary(pattern)
    if words is None:
        assert found is None
    else:
        together = found[0] | found[1]
        assert all(any(word in wanted or wanted in word for wanted in words) for word in together), together


@pytest.mark.parametrize("text", ["ſo it is", "İt is so", "a" * 5_000 + " so", "SO", "x;so", "it_so so.", "soso", ""])
def test_unusual_letters_and_long_texts_are_searched(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter that equals another one where capitals do not count hides no word."""
    monkeypatch.setitem(WORDS, digest(r"\bso\b", re.IGNORECASE), "so|")
    found = PhrasePattern(r"\bso\b", re.IGNORECASE).search(text)
    expected = re.search(r"\bso\b", text, re.IGNORECASE)
    assert (found and found.span()) == (expected and expected.span())


def test_places_in_a_text_are_those_of_the_compiled_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a part of a text is searched, what stands before it is seen and what follows is not."""
    monkeypatch.setitem(WORDS, digest(r"\bnot\b|;", 0), "|·not· ;")
    pattern, text = PhrasePattern(r"\bnot\b|;", 0), "cannot, not so not"
    assert [match.span() for match in pattern.finditer(text, 3, 14)] == [(8, 11)]
    assert pattern.search(text, 3, 10) is None
    assert pattern.search("a;b").span() == (1, 2)
    assert pattern.search("knots") is None
    assert pattern.split("a not b") == ["a ", " b"]
