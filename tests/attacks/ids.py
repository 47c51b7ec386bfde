"""Ids of samples that are paths, options, formulas or pages, or look alike: through the store, artifacts and report."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import nel
from nel.errors import DatasetError
from tests.support.runs import read_results, write_jsonl

_KEPT: Final = [
    "a\nb", "a\0b", "\U0001f642", "a\u202eb", "x" * 10_000, "../../x", "-rf", "=cmd()", "+1", "@SUM(A1)", "\t=1", "A",
    "a", "a ", "a\u00a0", "a\u200b", "<script>alert(1)</script>", "{{7*7}}", "a\x1b[2J", "a#2", "1", "x\u2028", "a\rb",
    "\"'", "a,b;c|d", "__proto__", "NULL", "nan", "%00", "\ufeffa",
]  # fmt: skip
_REFUSED: Final[dict[str, list[object]]] = {
    "two spellings of one id": ["caf\u00e9", "cafe\u0301"],
    "the same id twice": ["a", "a"],
    "a number and its text": [1, "1"],
    "half a character": ["a", "\ud800"],
    "a blank id": ["a", " \u2028"],
    "no id": ["a", None],
    "a list": ["a", ["a"]],
}


def _run(folder: Path, ids: list[Any]) -> nel.RunResult:
    rows = [{"id": one, "question": f"{n}?", "answer": f"#### {n}", "said": f"#### {n}"} for n, one in enumerate(ids)]
    data = write_jsonl(folder / "rows.jsonl", rows)
    entry = {"name": "gsm8k", "dataset": str(data), "response_field": "said"}
    return nel.evaluate({"benchmarks": [entry], "output": {"dir": str(folder / "out"), "run_id": "r"}})


@cache
def _finished() -> tuple[dict[str, Any], str, list[str], str]:
    with tempfile.TemporaryDirectory(prefix="nel-attack-") as name:
        folder = Path(name)
        result = _run(folder, _KEPT)
        rows = {row["sample_id"]: row for row in read_results(result.run_dir, "gsm8k")}
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        texts = [path.read_text(encoding="utf-8") for path in result.run_dir.rglob("*.json*")]
        return rows, (result.run_dir / "report.html").read_text(encoding="utf-8"), files, "\n".join(texts)


def kept(one: str, _: Path) -> None:
    """The id is told apart and kept as it is; it is not a file, no element of the page and no line of its own."""
    rows, page, files, texts = _finished()
    assert len(rows) == len(_KEPT)
    assert rows[one]["reward"] == 1.0
    assert rows[one]["problem_idx"] == _KEPT.index(one)
    assert all(re.fullmatch(r"(out|rows\.jsonl)(/r(/(gsm8k(/[\w.-]+)?|[\w.-]+))?)?", file) for file in files)
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert all(json.loads(line) is not None for line in texts.splitlines() if line.startswith('{"') and line[-1] == "}")


def refused(ids: list[object], folder: Path) -> None:
    """Ids that no file can keep apart end the run before anything is asked, or make the row a bad one."""
    try:
        result = _run(folder, ids)
    except DatasetError:
        return
    rows = read_results(result.run_dir, "gsm8k")
    assert len({row["sample_id"] for row in rows}) == len(rows) == len(ids)
    assert result.exit_code == 3


IDS: Final[dict[str, Callable[[Path], None]]] = {
    **{f"{one[:24]!r}": partial(kept, one) for one in _KEPT},
    **{name: partial(refused, ids) for name, ids in _REFUSED.items()},
}
