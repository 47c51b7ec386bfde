"""Lines that stay at the end of a terminal's output while other text is written above them.

Everything that is written to the terminal passes through one object with one lock, and no line is
wider than the terminal: so no line is torn, by other output or by a change of the width.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from io import TextIOBase
from math import ceil
from typing import Final, TextIO

from rich.cells import cell_len, set_cell_size

_SIZE: Final = os.terminal_size((80, 24))
"""Of a terminal that does not say its own."""
_FILLED: Final = re.compile("━+")
"""The full part of a bar, which is green."""


def pack_lines(items: Iterable[str], width: int) -> list[str]:
    """Return the items on as few lines as they need, in order, two spaces between them; one that
    is wider than a line alone is cut.
    """
    lines: list[str] = []
    for item in items:
        line = f"{lines[-1]}  {item}" if lines else ""
        if lines and cell_len(line) <= width:
            lines[-1] = line
        else:
            lines.append(set_cell_size(item, width) if cell_len(item) > width else item)
    return lines


class Frame(TextIOBase):
    """A stream to a terminal that keeps some lines at its end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: Sequence[str] = ()
        self._unended = ""
        """Text that was written without the end of its line; it waits for that."""
        self._lock = threading.RLock()
        self._is_coloured = not os.environ.get("NO_COLOR")

    @property
    def columns(self) -> int:
        """Return how wide a line may be; the last column stays empty, where some terminals wrap."""
        return self._size().columns - 1

    @property
    def bar_characters(self) -> tuple[str, str]:
        """Return what a bar is drawn with, full and empty."""
        return ("━", "─") if (self._stream.encoding or "").lower().startswith("utf") else ("#", "-")

    @property
    def encoding(self) -> str:  # type: ignore[override] # the base class has a plain attribute
        """Return the encoding of the terminal."""
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override] # as above
        """Return what happens to characters that the terminal does not take."""
        return self._stream.errors

    def fileno(self) -> int:
        """Return the descriptor of the terminal."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Return that it is a terminal."""
        return True

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def write(self, text: str) -> int:
        """Write complete lines above those that stay; a carriage return starts a line over."""
        with self._lock:
            # What follows the last line break, perhaps nothing, waits for its own.
            *lines, self._unended = (self._unended + text).split("\n")
            if lines:
                self.show(self._lines, above=[_last_text(line) for line in lines])
        return len(text)

    def show(self, lines: Sequence[str], *, above: Iterable[str] = ()) -> None:
        """Write some lines that scroll, then those that stay in the place of the former ones.

        Args:
            lines: Those that stay; without any, text that waits for its end is written too.
            above: Those that scroll.
        """
        with self._lock:
            size = self._size()
            # Lines that scrolled off the screen could not be erased again.
            height = max(size.lines - 1, 1)
            block = [*lines[: height - 1], "…"] if len(lines) > height else list(lines)
            block = [
                set_cell_size(line, size.columns - 1) if cell_len(line) >= size.columns else line
                for line in block
            ]
            text = "".join([self._erase(size.columns), *(f"{line}\n" for line in above)])
            if not lines:
                text, self._unended = text + self._unended, ""
            # In one call, and coloured last: the codes of colours take no column.
            self._stream.write(text + "\n".join(self._colour(block)))
            self._stream.flush()
            self._lines = block

    def _erase(self, columns: int) -> str:
        """Return what takes the lines off: a terminal that became narrower has wrapped them."""
        if not self._lines:
            return ""
        rows = sum(max(ceil(cell_len(line) / columns), 1) for line in self._lines)
        # To the start of the line, up to the first of the rows, and clear to the end of the screen.
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") + "\x1b[J"

    def _colour(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            yield _FILLED.sub("\x1b[32m\\g<0>\x1b[0m", line) if self._is_coloured else line

    def _size(self) -> os.terminal_size:
        try:
            size = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return _SIZE
        return size if size.columns > 1 and size.lines > 1 else _SIZE


def _last_text(line: str) -> str:
    # Of "10 %\r20 %\r\n", as progress bars of libraries write it, a terminal shows "20 %".
    return line.rstrip("\r").rpartition("\r")[2]
