"""The golden table of judges' replies: clear ones are read as they are meant, all others are refused.

A row has the kind of reply (``clear``, ``unclear``, or ``forged`` where it repeats the graded text), the reader, the
graded text where it matters, the reply, the verdict (null where it must be refused) and the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nel.errors import JudgeError
from nel.judges.parsing.formats import grade_in_json, pattern_reader
from nel.judges.parsing.verdict import Scale, grade_reader
from nel.judges.quoting import Quoted, quote
from nel.judges.types import Grade, Read

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "golden_verdicts.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0}
FIVE = {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0}
ARENA = {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.5, "B>A": 0.0, "B>>A": 0.0}
MT_BENCH = (
    'Compare the answers. End with your verdict in this format: "[[A]]" if assistant A is better, "[[B]]" if '
    'assistant B is better, and "[[C]]" for a tie.\n\n{response}'
)


def _json(quoted: Quoted) -> Read:
    return lambda reply: Grade(label=grade_in_json(quoted, reply), score=0.0)


READERS: dict[str, tuple[str, Callable[[Quoted], Read]]] = {
    "letters": ("Grade {response}", lambda quoted: grade_reader(quoted, LETTERS)),
    "five": ("Grade {response}", lambda quoted: grade_reader(quoted, FIVE)),
    "pairwise": (
        "Compare {response}",
        lambda quoted: grade_reader(quoted, {"A": 1.0, "B": 0.0, "TIE": 0.5}, words={"TIE": ("draw", "equal")}),
    ),
    "mtbench": (
        MT_BENCH,
        lambda quoted: pattern_reader(quoted, r"\[\[([ABC])\]\]", Scale({"A": 1.0, "B": 0.0, "C": 0.5})),
    ),
    "arena": ("Compare {response}", lambda quoted: pattern_reader(quoted, r"\[\[([AB<>=]+)\]\]", Scale(ARENA))),
    "json": ("Grade {response}", _json),
}


def verdict(row: dict[str, Any]) -> str | None:
    """Return the label that is read of a row's reply, None where it is refused."""
    template, reader = READERS[row["reader"]]
    try:
        return reader(quote(template, {"response": row.get("graded", "Lyon")}))(row["reply"]).label
    except JudgeError:
        return None


@pytest.mark.parametrize("kind", sorted({row["kind"] for row in ROWS}))
def test_a_clear_verdict_is_read_and_any_other_refused(kind: str) -> None:
    """No reply is read as another verdict than it means."""
    rows = [row for row in ROWS if row["kind"] == kind]
    assert [(row["reply"], row["why"]) for row in rows if verdict(row) != row["verdict"]] == []
