"""Formats external text for terminals, without control characters, and prints notes.

Model names and errors come from outside; an escape sequence in them could rewrite what the user
sees.
"""

from __future__ import annotations

from collections.abc import Iterable

import typer


def plain(text: str) -> str:
    """Return the text on one line with control and direction characters shown as escapes.

    >>> print(plain("red \\x1b[31mtext"), plain("two\\nlines"))
    red \\x1b[31mtext two lines
    """
    return "".join(
        character if character.isprintable() else _escape(character) for character in text
    )


def report_text(text: str) -> str:
    """Return a text of a report as `plain` does, with spaces in place of narrow no-break ones."""
    return plain(text.replace("\u202f", " "))


def say(notes: Iterable[str]) -> None:
    """Print notes on stderr, each once; stdout is left to the result."""
    for note in dict.fromkeys(notes):
        typer.echo(f"nel: {plain(note)}", err=True)


def _escape(character: str) -> str:
    return " " if character in "\n\t" else character.encode("unicode_escape").decode("ascii")
