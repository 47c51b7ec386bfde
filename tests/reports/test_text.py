"""Hostile and long text becomes showable, numbers become readable."""

from __future__ import annotations

import pytest

from nel.reports import numbers
from nel.reports.text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttab\nline", "plain\ttab\nline"),
        ("a\r\nb\rc", "a\nb\\rc"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202e\u2066\u200b\ufeff", "\\u202e\\u2066\\u200b\\ufeff"),
        ("\ud83d", "\\ud83d"),
        ("é 漢 👩\u200d🔬", "é 漢 👩\u200d🔬"),
    ],
)
def test_hidden_characters_become_escapes(text: str, shown: str) -> None:
    """Controls, bidi marks, surrogates and tag characters show; ordinary scripts and joined emoji stay."""
    assert visible(text) == shown
    visible(text).encode()


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.0, "0"), (-1.5, "−1.5"), (1234.5, "1,234.5"), (1e308, "1e+308")]
)
def test_plain_numbers_lose_empty_decimals(value: float | None, text: str) -> None:
    """A number of unknown scale keeps up to four decimals and its sign."""
    assert numbers.plain(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0421, "42.1 ms"), (0.5, "500 ms"), (1.314, "1.31 s"), (75, "1 min 15 s"), (7300, "2 h 1 min")],
)
def test_durations_use_a_fitting_unit(value: float | None, text: str) -> None:
    """Milliseconds, seconds, minutes or hours."""
    expected = (
        text.replace(" ms", "\u202fms").replace(" min", "\u202fmin").replace(" s", "\u202fs").replace(" h", "\u202fh")
    )
    assert numbers.seconds(value) == expected
