"""Formats text for terminals: readable numbers, and external text without control characters.
Prints nothing.

Model names and errors come from outside; an escape sequence in them could rewrite what the user
sees.
"""

from __future__ import annotations


def percent(value: float) -> str:
    """Return a share as a percentage with two decimals."""
    return f"{round(100 * value, 2) + 0.0:.2f} %"


def duration(seconds: float) -> str:
    """Return a time span in a readable unit: ``42s``, ``3m07s``, ``2h05m``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


def plain(text: str) -> str:
    """Return the text on one line with control and direction characters shown as escapes."""
    return "".join(
        character if character.isprintable() else _escape(character) for character in text
    )


def report_text(text: str) -> str:
    """Return a text of a report for a terminal: `plain`, with a space before each unit, where pages
    have a narrow one.
    """
    return plain(text.replace("\u202f", " "))


def _escape(character: str) -> str:
    return " " if character in "\n\t" else character.encode("unicode_escape").decode("ascii")
