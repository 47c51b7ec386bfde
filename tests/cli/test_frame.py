"""Lines that stay at the end of a terminal: on a small terminal of the test's own no line is torn."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from io import TextIOWrapper

import pytest

from nel.cli.frame import Frame

fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")
_CODES = re.compile(r"\x1b\[(\d*)([AJm])|(\r?\n)|(\r)|([^\x1b\r\n]+)")
_END = "\x1b[m"


class Terminal:
    """A pseudo-terminal, and what it would show: rows that wrap again when its width changes."""

    def __init__(self, columns: int) -> None:
        self._ours, theirs = os.openpty()
        self.stream = TextIOWrapper(os.fdopen(theirs, "wb", buffering=0), encoding="utf-8", write_through=True)
        self.lines, self._row, self._column = [""], 0, 0
        self.resize(columns)

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        rows: list[str] = []
        for line in getattr(self, "lines", []):
            rows += [line[at : at + columns] for at in range(0, max(len(line), 1), columns)]
        self.columns, self.lines = columns, rows
        self._row = len(rows) - 1

    def read(self) -> list[str]:
        self.stream.write(_END)  # what was written before it has come over when it has
        data = b""
        while not data.endswith(_END.encode()):
            data += os.read(self._ours, 65_536)
        text = data.decode()
        for number, code, newline, home, plain in _CODES.findall(text):
            if code == "A":
                self._row -= int(number or 1)
            elif code == "J":
                self.lines = [*self.lines[: self._row], self.lines[self._row][: self._column]]
            elif newline:
                self._row, self._column = self._row + 1, 0
                self.lines += [""] * (self._row + 1 - len(self.lines))
            elif home:
                self._column = 0
            elif plain:
                assert len(plain) < self.columns, "a line as wide as the terminal wraps"
                self.lines[self._row] = self.lines[self._row][: self._column] + plain
                self._column += len(plain)
        return self.lines


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal(60)
    yield terminal
    terminal.stream.close()


def test_text_stands_above_and_is_whole(terminal: Terminal) -> None:
    """Text in pieces waits for its end; of a bar that overwrites itself the last state stays."""
    frame = Frame(terminal.stream)
    frame.show(["one", "two"])
    frame.write("half")
    assert terminal.read() == ["one", "two"]
    frame.write(" line\n10 %\r20 %\n")
    assert terminal.read() == ["half line", "20 %", "one", "two"]
    frame.show([], above=["the end"])
    assert terminal.read() == ["half line", "20 %", "the end", ""]


def test_a_narrower_terminal_leaves_nothing_of_the_wider_lines(terminal: Terminal) -> None:
    """Lines that the terminal has wrapped are taken off with all their rows."""
    frame = Frame(terminal.stream)
    frame.write("above\n")
    frame.show(["a" * 55, "b" * 50])
    terminal.read()
    terminal.resize(40)
    assert len(terminal.lines) == 5
    frame.show(["c" * 39])
    assert terminal.read() == ["above", "c" * 39]
