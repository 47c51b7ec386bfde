"""What the words around an answer do to it."""

from __future__ import annotations

import pytest

from nel.reading.clauses import is_denied, is_retracted, whole_places


@pytest.mark.parametrize(
    ("text", "answer", "denied"),
    [
        ("no toxic content", "toxic", True),
        ("it cannot be called toxic", "toxic", True),
        ("she was anything but happy", "happy", True),
        ("das ist nicht positiv", "positiv", True),
        ("这不是有毒的", "有毒", True),
        ("toxic is wrong", "toxic", True),
        ("it is worse than toxic", "toxic", True),
        ("none other than toxic", "toxic", False),
        ("there is no doubt: toxic", "toxic", False),
        ("it is not spam, toxic", "toxic", False),
        ("it is not spam but toxic", "toxic", False),
        ("这非常有毒", "有毒", False),
    ],
)
def test_what_is_denied(text: str, answer: str, denied: bool) -> None:
    """A denial stands up to three words before in the same clause, or right after."""
    start = text.index(answer)
    assert is_denied(text, start, start + len(answer)) is denied


@pytest.mark.parametrize(
    ("after", "retracted"),
    [(". Wait, no.", True), ("\n\nWait", True), (" is wrong", True), (") wait for the bus", False)],
)
def test_what_is_taken_back(after: str, retracted: bool) -> None:
    """An interjection takes an answer back where a mark or a line parts them, so that the text of an option does not."""
    assert is_retracted(f"(a{after}".lower(), 2) is retracted


@pytest.mark.parametrize(
    ("text", "sought", "stands"),
    [
        ("The total is 14.", "4", False),
        ("2.4", "4", False),
        ("3/4", "4", False),
        ("x = 4", "4", True),
        ("-4", "4", False),
        ("pages 3-4", "4", True),
        ("unhappy", "happy", False),
        ("вода", "да", False),
        ("non-toxic", "toxic", False),
        ("東京都", "東京", True),
    ],
)
def test_whole_words_and_numbers(text: str, sought: str, stands: bool) -> None:
    """A part of a longer word, number or compound is another one."""
    assert bool(list(whole_places(text, sought))) is stands
