"""The commands that README and docs/ show: where each one stands, and its text with its lines joined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = (
    "nel|nel-byob|make|pip|python3?|export|cd|ssh-keygen|mlflow|wandb|inspect|curl|docker|git|pytest|evalscope|mkdocs"
)
_START = re.compile(rf"^(?:\$ )?(?P<command>(?:[A-Z_]+=\S+ )*(?:{PROGRAMS}) \S.*)$")
_COMMENT = re.compile(r"\s+#\s.*$")
_FENCES = ("", "console", "sh", "bash", "shell", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One command of a page."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        """Return the place and the command."""
        return f"{self.page}:{self.line}: {self.text}"


def shown_commands() -> list[Shown]:
    """Return the commands of README and docs/, in the order of their pages and lines; generated pages have none."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [one for page in pages for one in commands_of(page)]


def commands_of(page: Path) -> Iterator[Shown]:
    """Yield the commands of a page: lines of code that begin with a program, with the lines that they go on in."""
    text = page.read_text(encoding="utf-8")
    if text.startswith("<!-- Generated"):
        return
    begun: tuple[int, str] | None = None
    for number, line in _code(text):
        if begun is None:
            matched = _START.match(line)
            if matched is None:
                continue
            begun = number, _COMMENT.sub("", matched["command"])
        else:
            begun = begun[0], f"{begun[1]} {_COMMENT.sub('', line.strip())}"
        if begun[1].endswith("\\"):
            begun = begun[0], begun[1][:-1].strip()
            continue
        yield Shown(page=page.relative_to(ROOT).as_posix(), line=begun[0], text=begun[1])
        begun = None


def _code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of indented code and of fences that hold commands, with their numbers."""
    fence: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip().startswith("```"):
            fence = line.strip()[3:].strip() if fence is None else None
        elif fence is not None:
            if fence in _FENCES:
                yield number, line
        elif line.startswith("    "):
            yield number, line[4:]
