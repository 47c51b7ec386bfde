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


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0, "0"), (1319, "1,319"), (12_345_678, "12,345,678")])
def test_counts_have_thin_separators(value: int | None, text: str) -> None:
    """Thousands are set apart, and a missing count is a dash."""
    assert numbers.count(value) == text


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
