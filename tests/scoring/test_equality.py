"""Which texts are equal, beyond the golden tables: every kind of mark that counts, may count or never does."""

from __future__ import annotations

import pytest

from nel.scoring.equality import normalise, same_brackets, same_text
from nel.scoring.marks import Kind, trim
from nel.scoring.mentions import is_given, mentions
from nel.scoring.text import fuzzy_match
from nel.types import ScorerInput

_ENGLAND, _SCOTLAND = (
    "".join(chr(0xE0000 + ord(letter)) for letter in place) + "\U000e007f" for place in ("gbeng", "gbsct")
)
EQUAL = [("✔️", "✓"), ("-", "−"), ("-½", "-1/2"), ("F♯", "F#"), ("The (big) cat", "big cat"), ("\ufeffParis", "Paris")]
DIFFERENT = [("A ✓ B ✗", "A ✗ B ✓"), ("]", "["), ("x = - 5", "x = 5"), ("∞", "-∞"), ("2(x+1)", "(2x)+1"), ("O-", "O+")]


@pytest.mark.parametrize(("answer", "target"), EQUAL)
def test_ways_of_writing_the_same_are_equal(answer: str, target: str) -> None:
    """Dressing does not count, nor does which of several characters a mark is written with."""
    assert same_text(answer, target)


@pytest.mark.parametrize(("answer", "target"), DIFFERENT)
def test_marks_with_a_meaning_make_a_difference(answer: str, target: str) -> None:
    """A sign, a bracket or a symbol that changes what is said keeps two texts apart, in either role."""
    assert not same_text(answer, target)
    assert not same_text(target, answer)


@pytest.mark.parametrize("target", ["✓", "🎉", "☆", "\u200b", "\ufe0f", "]", "...", "?", "\U000f0000", "\ud800", "🏽"])
def test_a_target_without_words_equals_nothing_but_itself(target: str) -> None:
    """What normalises to nothing is not a wild card."""
    assert same_text(target, target)
    for answer in ("", " ", "Paris", "I refuse to answer.", "A", "!", "✗", "\u200e"):
        assert not same_text(answer, target)
        assert not same_text(target, answer)


@pytest.mark.parametrize("text", ["> ]", "- ?", "* )", "<b>", "~~Rome~~", "\\text{Rome}", "$$", "> Rome"])
def test_what_looks_like_markup_equals_itself(text: str) -> None:
    """A target that is written as markup is no less a target."""
    assert same_text(text, text)
    assert fuzzy_match(ScorerInput(response=text, target=text))["correct"]
    assert not same_text("Paris", text)


@pytest.mark.parametrize("mark", ["\u200b", "\u200e", "\u2060", "\ufeff", "\u00ad", "\ufe0f", "🏽", "™"])
@pytest.mark.parametrize("text", ["Pa{}ris", "{}Paris", "Paris{}"])
def test_what_is_not_seen_does_not_count(text: str, mark: str) -> None:
    """Invisible characters, variation selectors, skin tones and trade marks change no word, wherever they stand."""
    assert same_text(text.format(mark), "Paris")
    assert same_text("Paris", text.format(mark))


@pytest.mark.parametrize(
    ("text", "inner"), [("**A-**.", "A-"), (" -5. ", "-5"), ("5%.", "5%"), ("?", "?"), ("<5>", "<5>")]
)
def test_trimming_keeps_marks_with_a_meaning(text: str, inner: str) -> None:
    """Outer punctuation goes, the sign of a number, a grade or a name stays."""
    assert trim(text) == inner


def test_normalising_keeps_symbols_when_asked() -> None:
    """The normal form has no symbols but those of the kinds named."""
    assert normalise("♞f3!") == "f3"
    assert normalise("♞f3!", counting=Kind.SYMBOL) == "♞f3"


@pytest.mark.parametrize(
    ("answer", "target", "same"),
    [("(a, b]", "(a, b)", False), ("((a))", "(a)", False), ("[(a, b)]", "(a, b)", False), ("a, b", "(a, b)", True)],
)
def test_brackets(answer: str, target: str, same: bool) -> None:
    """Brackets agree in their order, or one side has none."""
    assert same_brackets(answer, target) is same


@pytest.mark.parametrize(
    ("response", "answer", "given"),
    [
        ("It was George Washington.", "George Washington", True),
        ("George Washington University", "George Washington", False),
        ("a Paris-based firm", "Paris", True),
        ("Jean-Paul", "Paul", False),
        ("Options include red, blue and green", "blue", False),
        ("London, or rather Paris", "London", False),
        ("A) Paris", "Paris", True),
    ],
)
def test_what_a_mention_gives(response: str, answer: str, given: bool) -> None:
    """A mention gives an answer unless it is a longer name or on offer."""
    assert [is_given(response, start, end, answer) for start, end in mentions(response, answer)] == [given]


def test_mentions_are_bounded() -> None:
    """Of a response that repeats itself a thousand mentions are looked at."""
    assert len(mentions("Paris " * 5_000, "Paris")) == 1_000
