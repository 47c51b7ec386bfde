"""Rows and their gold answers end to end: what a gold letter is, and rows that decide nothing and are never asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, read_json, read_results, write_jsonl

BENCH = """
from nel import ScorerInput, benchmark, scorer

@benchmark(name="b", dataset="rows.jsonl", prompt="{prompt}", target_field="target"%s)
@scorer
def b(sample: ScorerInput) -> dict:
    return {"correct": False}
"""


def dry_run(tmp_path: Path) -> Any:
    """Return what the command says before it sends anything."""
    where = ("--model-url", "http://127.0.0.1:9/v1", "--model-id", "m", "--dry-run")
    return nel("eval", "run", "--bench", "b.py", *where, cwd=tmp_path)


def recorded(tmp_path: Path, rows: Sequence[Mapping[str, Any]], scorer: str, options: str = "") -> list[Any]:
    """Score recorded answers on the command line, and return the rewards and why there is none."""
    (tmp_path / "b.py").write_text(BENCH.replace("{prompt}", "{q}") % options)
    write_jsonl(tmp_path / "rows.jsonl", [{"id": f"{n:02}", "q": f"q{n}", **row} for n, row in enumerate(rows)])
    command = ("eval", "run", "--bench", "b.py", "--response-field", "out", "--scorer", scorer, "-o", "out")
    done = nel(*command, "--run-id", "r", cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    lines = read_results(tmp_path / "out" / "r", "b")
    return [line["outcome"].get("detail") if line["reward"] is None else line["reward"] for line in lines]


def test_a_column_of_lists_that_are_texts_is_noted(tmp_path: Path) -> None:
    """A table has no lists or objects: each would be compared as one text, which no answer equals."""
    golds = ["['Rome', 'Roma']", '["Paris"]', "{'text': array(['Oslo'], dtype=object)}"]
    assert recorded(tmp_path, [{"target": gold, "out": "Rome"} for gold in golds], "exact_match") == [0.0] * 3
    metrics = read_json(tmp_path / "out" / "r" / "b" / "metrics.json")
    assert [one["text"][:71] for one in metrics["warnings"] if one["kind"] == "golds"] == [
        "the gold answers are texts that look like lists or objects, such as ['R"
    ]
    assert "the gold answers are texts that look like lists or objects" in dry_run(tmp_path).stderr


def test_choices_that_are_numbered_from_one_are_refused(tmp_path: Path) -> None:
    """Counted from 0, each gold answer would be the next choice: nothing is asked, and the row is named."""
    (tmp_path / "b.py").write_text(BENCH.replace("{prompt}", "{q}") % ', choices_field="choices"')
    golds = ["1", "2", "1"]
    write_jsonl(tmp_path / "rows.jsonl", [{"q": "q", "target": gold, "choices": ["red", "blue"]} for gold in golds])
    done = nel(
        "eval", "run", "--bench", "b.py", "--model-url", "http://127.0.0.1:9/v1", "--model-id", "m", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "line 2: the gold answer is 2 of 2 choices and no row has 0" in done.stderr


EMPTY: list[Any] = ["", " ", [], [""], ["", " "]]


@pytest.mark.parametrize(
    ("scorer", "golds"),
    [
        ("contains", EMPTY),
        ("numeric_match", [*EMPTY, "n/a", "x=5", "5 or 6", ["a", "b"]]),
        ("label_match:labels=[a,b]", [*EMPTY, "c"]),
    ],
)
def test_a_gold_answer_that_decides_nothing_is_never_asked(tmp_path: Path, scorer: str, golds: list[Any]) -> None:
    """Such a row is a bad row in every scorer, and nothing is sent for it."""
    (tmp_path / "b.py").write_text(BENCH.replace("{prompt}", "{q}") % "")
    write_jsonl(tmp_path / "rows.jsonl", [{"q": f"q{n}", "target": gold} for n, gold in enumerate(golds)])
    with scripted(lambda *_: answer("5"), models=["m"]) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "--scorer", scorer, "-o", "out", "--run-id", "r")
        done = nel("eval", "run", "--bench", "b.py", *where, cwd=tmp_path)
        asked = [call for call in endpoint.calls if any(f"q{n}" in str(call.body) for n in range(len(golds)))]
    assert (done.returncode, asked) == (3, [])
    causes = {line["outcome"]["cause"] for line in read_results(tmp_path / "out" / "r", "b")}
    assert causes == {"bad_row"}


def test_another_scorer_has_its_rows_asked(tmp_path: Path) -> None:
    """A row that was bad for one scorer alone is asked once another one scores the run; the others are kept."""
    (tmp_path / "b.py").write_text(BENCH.replace("{prompt}", "{q}") % "")
    write_jsonl(tmp_path / "rows.jsonl", [{"q": "q0", "target": "5"}, {"q": "q1", "target": "five or six"}])
    with scripted(lambda *_: answer("5"), models=["m"]) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--run-id", "r")
        run = ("eval", "run", "--bench", "b.py", *where)
        assert nel(*run, "--scorer", "numeric_match", cwd=tmp_path).returncode == 3
        assert nel(*run, "--resume", "--scorer", "contains", cwd=tmp_path).returncode == 0
        prompts = [str(call.body.get("messages")) for call in endpoint.calls]
    assert [sum(f"q{n}" in prompt for prompt in prompts) for n in range(2)] == [1, 1]
    assert [line["reward"] for line in read_results(tmp_path / "out" / "r", "b")] == [1.0, 0.0]
