"""Every form in which files of NeMo Evaluator write a scorer: with three arguments, unbound."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.authoring.lent_names import standing_in
from nel.types import ScorerInput
from tests.support.endpoint import answer, scripted
from tests.support.runs import read_results, write_jsonl

FIRST_FORM = """
from nemo_evaluator.byob import benchmark, scorer
from nemo_evaluator.byob.scorers import contains, f1_token

@benchmark(name="rivers", dataset="rows.jsonl", prompt="Which river? {clue}", target_field="river")
@scorer
def rivers(response: str, target: str, metadata: dict) -> dict:
    found = contains(response, target, metadata)
    return {"correct": found["correct"], "long": metadata["km"] > 1000, "f1": f1_token(response, target)["f1"]}
"""


def scored(path: Path, name: str, reply: str) -> list[dict[str, Any]]:
    """Run a file where each question is answered alike, and return its rows of results."""
    with scripted(lambda *_: answer(reply), models=["m"]) as endpoint:
        settings = {"benchmarks": [f"{path}:{name}"], "output": {"dir": str(path.parent / "out")}}
        result = nel.evaluate({**settings, "endpoint": {"url": endpoint.url, "model": "m"}})
        assert result.exit_code == 0
        assert len(endpoint.calls) >= 2
        return read_results(result.run_dir, name)


def test_a_scorer_of_three_arguments(tmp_path: Path) -> None:
    """Response, target and row reach it, and nel's scorers are called with them as well."""
    (tmp_path / "bench.py").write_text(FIRST_FORM)
    write_jsonl(
        tmp_path / "rows.jsonl",
        [{"clue": "a", "river": "Seine", "km": 777}, {"clue": "b", "river": "Nile", "km": 6650}],
    )
    rows = scored(tmp_path / "bench.py", "rivers", "It is the Nile")
    assert [row["scoring_details"]["metrics"]["correct"] for row in rows] == [0.0, 1.0]
    assert [row["scoring_details"]["metrics"]["long"] for row in rows] == [0.0, 1.0]
    assert rows[1]["scoring_details"]["metrics"]["f1"] > 0


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("The result is 1,234.\nChecked.", True),
        ("It makes\n1234", True),
        ("1234", True),
        ("1234\nor so", False),
        ("The result is 12.\n1234", False),
        ("", False),
    ],
)
def test_an_answer_line_by_a_pattern_or_at_the_end(reply: str, right: bool) -> None:
    """A pattern names what marks the answer; in such files a response without a mark ends in its answer."""
    with standing_in():
        answer_line = import_module("nemo_evaluator.scoring").answer_line
        assert import_module("nemo_evaluator").answer_line is answer_line
    sample = ScorerInput(response=reply, target="1234")
    assert answer_line(sample, pattern=r"result is ([^\n]+)")["correct"] is right
    assert nel.answer_line(ScorerInput(response="It makes\n1234", target="1234"))["correct"] is False
