"""Scorers that ask judges, in whole runs: judge_score, graders of Inspect's kind, and EvalScope's strategies."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.errors import ConfigError
from nel.reports.run_warnings import texts_of
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_json, read_results, run_config, write_jsonl
from tests.support.tiers import first_rows

HEAD = """
from nel import ScorerInput, benchmark, scorer
from nel.byob.judge import judge_score
from nel.scorers import exact, model_graded_qa, multi_scorer

def bench(**more):
    return benchmark(name="b", dataset="ROWS", prompt="{q}", target_field="a", **more)
"""


def adds(call: Call, _: int) -> Reply:
    """Answer with the question's number."""
    return answer(f"It is {call.text.split()[-1]}")


def run(tmp_path: Path, source: str, url: str, n: int = 3, **settings: Any) -> Any:
    """Return the result of a run of a benchmark file."""
    write_jsonl(tmp_path / "rows.jsonl", ({"q": f"Say {k}", "a": f"It is {k}"} for k in range(n)))
    (tmp_path / "b.py").write_text((HEAD + source).replace("ROWS", str(tmp_path / "rows.jsonl")))
    return nel.evaluate(
        run_config(url, [{"name": str(tmp_path / "b.py"), **settings.pop("entry", {})}], tmp_path / "out", **settings)
    )


def test_a_second_judge_by_its_key(tmp_path: Path) -> None:
    """judge_1 of extra is asked what is for it, and the panel what is not; a reply may be JSON."""
    source = """
@bench(judge={"url": "FIRST", "model_id": "one"}, extra={"judge_1": {"url": "SECOND", "model_id": "two"}})
@scorer
def b(sample: ScorerInput) -> dict:
    first = judge_score(sample)
    second = judge_score(sample, judge_key="judge_1", response_format={"type": "json_object"})
    return {"correct": first["judge_score"], "second": second["judge_score"]}
"""
    with (
        scripted(adds) as model,
        scripted(lambda *_: answer("GRADE: C")) as first,
        scripted(lambda *_: answer('{"grade": "I"}')) as second,
    ):
        result = run(tmp_path, source.replace("FIRST", first.url).replace("SECOND", second.url), model.url, n=1)
    (row,) = read_results(result.run_dir, "b")
    assert (row["reward"], row["scoring_details"]["metrics"]["second"]) == (1.0, 0.0)
    assert (first.calls[0].body["model"], second.calls[0].body["model"]) == ("one", "two")
    assert second.calls[0].body["response_format"] == {"type": "json_object"}
    assert "response_format" not in first.calls[0].body
    judges = read_json(result.run_dir / "b" / "metrics.json")["judging"]["judges"]
    assert {one["name"]: one["model"] for one in judges} == {"one": "one", "two": "two"}
    stats = read_json(result.run_dir / "b" / "runtime_stats.json")["judges"]
    assert {name: one["model"] for name, one in stats.items()} == {"one": "one", "two": "two"}


def says(**grades: str) -> Any:
    """Return a script that grades by the judging model's name."""
    return lambda call, _: answer(f"So be it.\nGRADE: {grades[call.body['model']]}")


@pytest.mark.parametrize(
    ("scorer", "reward", "calls"),
    first_rows(
        2,
        [
            ('model_graded_qa(model=["a", "b", "c"])', 0.0, 3),
            ("model_graded_qa(partial_credit=True, model_role='picky')", 0.5, 1),
            ('multi_scorer([model_graded_qa(model="a"), exact()], "mean")', 1.0, 1),
            (
                "model_graded_qa(template='{answer}={criterion}? {instructions}', instructions='GRADE: C or I', model='a')",
                1,
                1,
            ),
        ],
    ),
)
def test_graders_of_a_panel(tmp_path: Path, scorer: str, reward: float, calls: int) -> None:
    """One, several by majority, several scorers by their mode or mean, and a role."""
    with scripted(adds) as model, scripted(says(a="C", b="I", c="I", d="P")) as judge:
        panel = [{"url": judge.url, "model": name} for name in "abcd"]
        roles = {"picky": {"url": judge.url, "model": "d"}}
        result = run(tmp_path, f"b = bench()({scorer})\n", model.url, n=1, judge={"panel": panel}, model_roles=roles)
    assert (result.exit_code, len(judge.calls)) == (0, calls)
    (row,) = read_results(result.run_dir, "b")
    assert row["reward"] == reward
    judged = row["scoring_details"]["judgements"]
    assert sum(len(one["opinions"]) for one in judged) == calls
    assert len({tuple(opinion["judge"] for opinion in one["opinions"]) for one in judged}) == len(judged)


ADAPTER = """
from nel.benchmarks import BenchmarkMeta, DefaultDataAdapter, Sample, register_benchmark

@register_benchmark(BenchmarkMeta(name="NAME", dataset_id="DATA", metric_list=["acc"], prompt_template="{question}"))
class Sums(DefaultDataAdapter):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._use_llm_judge = USES

    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])
"""


def task(tmp_path: Path, model: str, uses: bool, source: str = ADAPTER, **fields: Any) -> Any:
    """Return the report of an adapter that answers 0 right by its rule, 1 and 2 not."""
    write_jsonl(tmp_path / "rows.jsonl", ({"q": f"Say {k}", "a": f"It is {k}" if k == 0 else f"{k}"} for k in range(3)))
    path = tmp_path / "sums.py"
    source = source.replace("NAME", tmp_path.name).replace("USES", str(uses))
    path.write_text(source.replace("DATA", str(tmp_path / "rows.jsonl")))
    config = nel.TaskConfig(model="m", api_url=model, datasets=[str(path)], work_dir=str(tmp_path / "out"), **fields)
    return nel.run_task(config)[str(path)]


def finds_one_right(call: Call, _: int) -> Reply:
    """Grade all but 2 right."""
    return answer("Yes.\nGRADE: I" if "It is 2" in call.text else "Yes.\nGRADE: C")


@pytest.mark.parametrize(
    ("strategy", "uses", "score", "calls"),
    first_rows(3, [("rule", True, 1 / 3, 0), ("llm_recall", False, 2 / 3, 2), ("auto", True, 2 / 3, 3),
                   ("llm", False, 2 / 3, 3), ("auto", False, 1 / 3, 0)]),
)  # fmt: skip
def test_strategies_of_a_task(tmp_path: Path, strategy: str, uses: bool, score: float, calls: int) -> None:
    """The rule, the judge, the judge for what the rule finds wrong, or what the adapter says."""
    with scripted(adds) as model, scripted(finds_one_right) as judge:
        arguments = {"api_url": judge.url, "model_id": "j", "generation_config": {"max_tokens": 77}}
        report = task(
            tmp_path, model.url, uses, judge_strategy=strategy, judge_model_args=arguments, judge_worker_num=2
        )
    assert (report.score, len(judge.calls)) == (pytest.approx(score), calls)
    assert all(call.body["max_tokens"] == 77 for call in judge.calls)


def test_a_tasks_own_contract(tmp_path: Path) -> None:
    """Its prompt, its pattern and its numbers; a reply without one leaves the sample unscored."""
    with (
        scripted(adds) as model,
        scripted(lambda call, _: answer("Nothing." if "It is 2" in call.text else "I rate it.\n[[0.25]]")) as judge,
    ):
        report = task(
            tmp_path,
            model.url,
            False,
            judge_strategy="llm_recall",
            judge_model_args={
                "api_url": judge.url,
                "model_id": "j",
                "system_prompt": "You {are} strict.",
                "prompt_template": "Q {question} G {gold} P {pred}",
                "score_type": "numeric",
            },
        )
    assert report.unscored == {"judge": 1}
    assert report.rows[0].score == pytest.approx(0.625)
    assert judge.calls[0].text.count("You {are} strict.") == 1
    assert {json.dumps(call.body["model"]) for call in judge.calls} == {'"j"'}


OWN_WORDS = """
import re
from nel.benchmarks import BenchmarkMeta, DefaultDataAdapter, Sample, Score, register_benchmark

@register_benchmark(BenchmarkMeta(name="NAME", dataset_id="DATA", metric_list=["is_correct", "is_incorrect"]))
class Own(DefaultDataAdapter):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._use_llm_judge = True

    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

    def llm_match_score(self, original_prediction, filtered_prediction, reference, task_state):
        prompt = f"{task_state.input}\\nReference: {reference}\\nPredicted answer: {original_prediction}\\nA or B?"
        reply = self.llm_judge.judge(prompt)
        found = re.search(r"(A|B)", reply)[0]
        return Score(value={"is_correct": float(found == "A"), "is_incorrect": float(found == "B")},
                     prediction=original_prediction, main_score_name="is_correct")
"""


def test_an_adapter_that_words_and_reads_for_itself(tmp_path: Path) -> None:
    """As published ones do with ``self.llm_judge``; a judge that is silent leaves the sample unscored."""

    def judge(call: Call, _: int) -> Reply:
        assert "Predicted answer: It is" in call.text
        return answer({"0": "A", "1": "B", "2": "Who can tell that now?"}[re.findall(r"It is (\d)", call.text)[-1]])

    with scripted(adds) as model, scripted(judge) as other:
        arguments = {"api_url": other.url, "model_id": "j"}
        report = task(tmp_path, model.url, True, OWN_WORDS, judge_model_args=arguments)
    found = {(row.metric, row.score, row.num) for row in report.rows}
    assert found == {("mean_is_correct", 0.5, 2), ("mean_is_incorrect", 0.5, 2)}
    assert report.unscored == {"judge": 1}


def test_a_role_suffices_and_without_one_the_model_judges_itself_loudly(tmp_path: Path) -> None:
    """A grader may be configured as a role alone; without one it is the evaluated model, as in Inspect, with a warning.

    Where no model could grade, and where a name is not a judge's, nothing is sent.
    """
    source = "b = bench()(model_graded_qa())\n"
    with scripted(adds) as model, scripted(says(g="C")) as judge:
        result = run(tmp_path, source, model.url, n=1, model_roles={"grader": {"url": judge.url, "model": "g"}})
        assert read_results(result.run_dir, "b")[0]["reward"] == 1.0
        named = "b = bench()(model_graded_qa(model_role='critic'))\n"
        with pytest.raises(ConfigError, match="this run has none"):
            run(tmp_path, named, model.url, n=1)
        several = 'b = bench()(multi_scorer([exact(), model_graded_qa(model="jon")], "max"))\n'
        with pytest.raises(ConfigError, match='asks the judge "jon"; did you mean "jo"'):
            run(tmp_path, several, model.url, judge={"url": judge.url, "model": "jo"})
        assert len(model.calls) == 1

    def graded(call: Call, seen: int) -> Reply:
        return answer("GRADE: C") if "GRADE" in call.text else adds(call, seen)

    with scripted(graded) as model:
        result = run(tmp_path, source, model.url, n=2)
    assert (result.exit_code, len(model.calls)) == (0, 4)
    (warning,) = texts_of(result.benchmarks[0].metrics, ("judging",))
    assert "judges itself" in warning
