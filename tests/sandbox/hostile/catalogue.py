"""The programs of this folder and the problems they answer, as data. Nothing here runs a program."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
LANGUAGES: Final = {".py": "python", ".js": "javascript", ".cpp": "cpp", ".sh": "bash"}
MODES: Final = ("split", "shared", "outside")
VERDICTS: Final = frozenset(
    "passed wrong runtime_error syntax_error timeout out_of_memory output_limit no_code".split()
)
_FIELDS: Final = frozenset("what mode problem verdict build probe".split())
_PROBE_ENDING: Final = """

def double(x):
    found = list(reached() if callable(reached) else reached)
    if found:
        raise RuntimeError("reached: " + "; ".join(map(str, found))[:500])
    return 2 * x
"""


@dataclass(frozen=True, kw_only=True)
class Program:
    """One answer that a model could give."""

    name: str
    """Family and file name: ``ending/abort.py``."""
    family: str
    language: str
    what: str
    """One sentence on what it tries."""
    mode: str
    problem: str
    """A key of `load_problems`."""
    verdicts: frozenset[str]
    """One of these, and no other, is right; a fault of the sandbox never is."""
    source: str
    """The program as the model would have written it; may hold lone surrogates and NUL characters."""


def load_problems() -> dict[str, dict[str, Any]]:
    """Return the problems by name."""
    return tomllib.loads((HERE / "problems.toml").read_text(encoding="utf-8"))


def load_programs() -> list[Program]:
    """Return all programs in the order in which they are to run: the family ``previous`` depends on it."""
    return [read_program(path) for path in sorted(HERE.glob("*/*")) if path.suffix in LANGUAGES]


def families() -> list[tuple[str, str]]:
    """Return each language and family that has a program, by the files' names alone."""
    return sorted({(LANGUAGES[path.suffix], path.parent.name) for path in HERE.glob("*/*") if path.suffix in LANGUAGES})


def read_program(path: Path) -> Program:
    """Return the program of one file.

    Raises:
        ValueError: Its header lacks a field, has an unknown one, or names an unknown mode or verdict.
    """
    text = path.read_text(encoding="utf-8")
    header = _header(text)
    if header.get("probe") == "yes":
        header, text = {"verdict": "passed", **header}, text + _PROBE_ENDING
    verdicts = frozenset(part.strip() for part in header.get("verdict", "").split("|"))
    mode = header.get("mode", "split")
    if set(header) - _FIELDS or not {"what", "verdict"} <= set(header):
        raise ValueError(f"{path}: the header needs what and verdict, and knows {sorted(_FIELDS)}")
    if not verdicts <= VERDICTS or mode not in MODES:
        raise ValueError(f"{path}: mode {mode!r} or verdict {header['verdict']!r} is unknown")
    return Program(
        name=f"{path.parent.name}/{path.name}",
        family=path.parent.name,
        language=LANGUAGES[path.suffix],
        what=header["what"],
        mode=mode,
        problem=header.get("problem", "double"),
        verdicts=verdicts,
        source=_built(text) if header.get("build") == "yes" else text,
    )


def _header(text: str) -> dict[str, str]:
    fields = {}
    for line in text.splitlines():
        mark = next((mark for mark in ("# ", "// ") if line.startswith(mark)), None)
        if mark is None:
            break
        name, colon, value = line.removeprefix(mark).partition(": ")
        if not colon:
            break
        fields[name] = value.strip()
    return fields


def _built(text: str) -> str:
    """Run a file that only builds its program, because the program is too large or too odd to be a file."""
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - a file of this repository which does nothing but join strings
    return str(names["SOURCE"])
