"""Every form in which files of NeMo Evaluator write a scorer: with three arguments, as a metric class, unbound."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.authoring.lent_names import standing_in
from nel.authoring.registry import benchmarks_in_file, find_benchmark
from nel.errors import PluginError, ScorerError
from nel.scoring.protocol import await_result
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

METRICS = """
from nemo_evaluator.environments.custom import benchmark, scorer
from nemo_evaluator.metrics import ExactMatchMetric
from nemo_evaluator.scorers import ExactMatchScorer
from nemo_evaluator.scoring import MetricInput, MetricOutput, MetricOutputSpec, MetricResult

ROWS = [{"clue": "Paris", "river": "Seine", "km": 777}, {"clue": "Cairo", "river": "Nile", "km": 6650}]

class Mentions:
    type = "mentions"

    def __init__(self, *, field):
        self.field = field

    def output_spec(self):
        return [MetricOutputSpec.continuous_score("correct"), MetricOutputSpec.boolean("short")]

    async def compute_scores(self, input: MetricInput) -> MetricResult:
        text = input.candidate.output_text
        found = [MetricOutput(name="correct", value=float(input.row.data[self.field] in text))]
        return MetricResult(outputs=[*found, MetricOutput(name="short", value=len(text) < 9)])

def defined(name, by):
    benchmark(name=name, dataset=lambda: ROWS, prompt="Which river? {clue}", target_field="river")(by)

defined("as-scorer", ExactMatchScorer(reference="{{ item.river }}"))
defined("as-class", scorer(Mentions)(field="river"))
defined("as-instance", scorer(ExactMatchMetric(reference="the {{ river }}", candidate="{{ sample.output_text }}")))
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


@pytest.mark.parametrize("name", ["as-scorer", "as-class", "as-instance"])
def test_a_metric_scores_in_each_form(tmp_path: Path, name: str) -> None:
    """Its values are metrics, and a benchmark needs no name in its file."""
    (tmp_path / "bench.py").write_text(METRICS)
    rows = scored(tmp_path / "bench.py", name, "Nile")
    assert [row["reward"] for row in rows] == [0.0, 1.0]
    if name == "as-class":
        assert [row["scoring_details"]["metrics"]["short"] for row in rows] == [1.0, 1.0]


def test_the_options_of_a_metric_are_part_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(METRICS)
    found = benchmarks_in_file(tmp_path / "bench.py")
    assert sorted(found) == ["as-class", "as-instance", "as-scorer"]
    assert "field='river'" in repr(getattr(found["as-class"].scorer, "__wrapped__", None))
    with pytest.raises(PluginError, match="choose one with"):
        find_benchmark(str(tmp_path / "bench.py"))


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("MetricResult(outputs=[])", "returned nothing, and output_spec promises correct"),
        ("MetricResult(outputs=[MetricOutput(name='other', value=1.0)])", "returned other, and output_spec"),
        ("{'correct': 1.0}", "returned a dict; return a MetricResult"),
    ],
)
async def test_a_metric_that_breaks_its_promise_gives_no_score(tmp_path: Path, result: str, message: str) -> None:
    """What it returned is named beside what it promised."""
    source = METRICS.replace("return MetricResult(outputs=[*found", f"return {result}\n        return ([*found")
    (tmp_path / "bench.py").write_text(source.replace(', MetricOutputSpec.boolean("short")', ""))
    made = benchmarks_in_file(tmp_path / "bench.py")["as-class"]
    with pytest.raises(ScorerError, match=message):
        await await_result(made.scorer(ScorerInput(response="Nile", target="Nile", metadata={"river": "Nile"})))


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
