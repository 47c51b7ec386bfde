"""Which texts are equal, beyond the golden tables: every kind of mark that counts, may count or never does."""

from __future__ import annotations

import pytest

from nel.scoring.words import Words, same_text, trim

EQUAL = [
    ("-", "−"),
    ("-½", "-1/2"),
    ("The (big) cat", "big cat"),
    ("\ufeffParis", "Paris"),
    ("e\u0301", "é"),
]
DIFFERENT = [("]", "["), ("∞", "-∞"), ("y = -5x", "y = 5x"), ("O-", "O+"), ("año", "ano")]


@pytest.mark.parametrize(("answer", "target"), EQUAL)
def test_ways_of_writing_the_same_are_equal(answer: str, target: str) -> None:
    """Dressing does not count, nor does which of several characters a mark is written with."""
    assert same_text(answer, target)


@pytest.mark.parametrize(("answer", "target"), DIFFERENT)
def test_marks_with_a_meaning_make_a_difference(answer: str, target: str) -> None:
    """A sign, an accent or a symbol that changes what is said keeps two texts apart, in either role."""
    assert not same_text(answer, target)
    assert not same_text(target, answer)


@pytest.mark.parametrize("target", ["✓", "🎉", "☆", "\u200b", "]", "...", "?", "\U000f0000", "\ud800"])
def test_a_target_without_words_equals_nothing_but_itself(target: str) -> None:
    """What normalises to nothing is not a wild card."""
    assert same_text(target, target)
    for answer in ("", " ", "Paris", "I refuse to answer.", "A", "!", "✗", "\u200e"):
        assert not same_text(answer, target)
        assert not same_text(target, answer)


@pytest.mark.parametrize(
    ("text", "inner"), [("**A-**.", "A-"), (" -5. ", "-5"), ("5%.", "5%"), ("?", "?"), ("$0.34", "0.34")]
)
def test_trimming_keeps_marks_with_a_meaning(text: str, inner: str) -> None:
    """Outer punctuation goes, the sign of a number, a grade or a name stays."""
    assert trim(text) == inner


@pytest.mark.parametrize(
    ("response", "answer", "given"),
    [
        ("a Paris-based firm", "Paris", True),
        ("Both are non-toxic.", "toxic", False),
        ("It is in Parisian style.", "Paris", False),
        ("The fee is 1.8 million.", "8", False),
        ("东京不是首都", "京都", False),
    ],
)
def test_where_an_answer_stands(response: str, answer: str, given: bool) -> None:
    """An answer stands in a text as whole words that are written alike and not denied."""
    assert Words(response, accents=False).gives(answer) is given
