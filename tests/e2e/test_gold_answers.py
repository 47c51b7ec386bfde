"""Rows and their gold answers end to end: what a gold letter is, and rows that decide nothing and are never asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, read_json, read_results, write_jsonl
from tests.support.tiers import first_rows

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


def test_a_gold_answer_that_reads_two_ways_is_a_bad_row(tmp_path: Path) -> None:
    """In a column of texts and letters, B may be both: both readings are named, and neither is scored."""
    rows = [
        {"target": "Paris", "out": "Answer: B", "choices": ["Rome", "Paris"]},
        {"target": "B", "out": "Answer: B", "choices": ["Rome", "Paris"]},
        {"target": "B", "out": "Answer: B", "choices": ["B", "A"]},
        {"target": "A", "out": "Answer: A", "choices": ["A", "B"]},
    ]
    *others, ambiguous, same = recorded(tmp_path, rows, "mcq_letter_extract", ', choices_field="choices"')
    assert (others, same) == ([1.0, 1.0], 1.0)
    assert "reads two ways: as the label of B and as the text of A" in ambiguous


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


def test_choices_in_an_object_name_the_list_in_it(tmp_path: Path) -> None:
    """The object that ARC has is answered with the field that would do."""
    (tmp_path / "b.py").write_text(BENCH.replace("{prompt}", "{q}") % ', choices_field="choices"')
    choices = {"text": ["red", "blue"], "label": ["A", "B"]}
    write_jsonl(tmp_path / "rows.jsonl", [{"q": "q", "target": "A", "choices": choices}])
    assert 'write choices_field="choices.text"' in dry_run(tmp_path).stderr


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


@pytest.mark.parametrize("scorer", first_rows(1, ["model_graded_qa", "model_graded_fact"]))
def test_no_judge_is_asked_without_a_reference(tmp_path: Path, scorer: str) -> None:
    """A judge that grades by the target is not asked about a row without one; the other rows are judged."""
    (tmp_path / "b.py").write_text(BENCH.replace("{prompt}", "{q}") % "")
    rows = [{"q": "Capital?", "out": "Paris", "target": target} for target in ["", " ", ["", ""], "Paris"]]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    with scripted(lambda *_: answer("GRADE: C"), models=["m"]) as endpoint:
        where = ("--judge-url", endpoint.url, "--judge-id", "m", "-o", "out", "--run-id", "r")
        done = nel(
            "eval", "run", "--bench", "b.py", "--response-field", "out", "--scorer", scorer, *where, cwd=tmp_path
        )
        judged = [call for call in endpoint.calls if "Paris" in str(call.body)]
    assert (done.returncode, len(judged)) == (3, 1)
    assert [line["reward"] for line in read_results(tmp_path / "out" / "r", "b")] == [None, None, None, 1.0]


DELEGATING = """
from nel import ScorerInput, benchmark, scorer
from nel.scoring import needs_judge

@benchmark(name="b", dataset="rows.jsonl", prompt="{q}", target_field="target", response_field="out")
@scorer(asks_judge=True)
def b(sample: ScorerInput) -> dict:
    return needs_judge(sample, template=%r)
"""


@pytest.mark.parametrize(("template", "first"), [("simpleqa", None), ("Is {response} polite?", 1.0)])
def test_a_delegated_verdict_needs_the_reference_that_its_judge_shows(
    tmp_path: Path, template: str, first: float | None
) -> None:
    """Where a scorer of one's own delegates, a judge that grades by a reference is not asked about an empty one."""
    (tmp_path / "b.py").write_text(DELEGATING % template)
    rows = [{"id": "1", "q": "a", "out": "x", "target": " "}, {"id": "2", "q": "b", "out": "Paris", "target": "Paris"}]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    reply = "GRADE: CORRECT" if template == "simpleqa" else "GRADE: C"
    with scripted(lambda *_: answer(reply), models=["m"]) as endpoint:
        where = ("--judge-url", endpoint.url, "--judge-id", "m", "-o", "out", "--run-id", "r")
        done = nel("eval", "run", "--bench", "b.py", *where, cwd=tmp_path)
    lines = read_results(tmp_path / "out" / "r", "b")
    assert [line["reward"] for line in lines] == [first, 1.0], done.stderr
    assert lines[0]["outcome"]["cause"] == (None if first else "bad_row")


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


ADAPTER = """
from nel.benchmarks import BenchmarkMeta, DefaultDataAdapter, Sample, register_benchmark

@register_benchmark(BenchmarkMeta(
    name="a", dataset_id="rows.jsonl", metric_list=["numeric_match"], subset_list=["default"], eval_split="test",
    prompt_template="{question}",
))
class A(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["target"])
"""


def test_an_adapter_finds_its_bad_rows_before_they_are_asked(tmp_path: Path) -> None:
    """The metrics of an adapter say which gold answers decide nothing."""
    (tmp_path / "a.py").write_text(ADAPTER)
    write_jsonl(tmp_path / "rows.jsonl", [{"q": f"q{n}", "target": gold} for n, gold in enumerate(["n/a", "", "5"])])
    with scripted(lambda *_: answer("5"), models=["m"]) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--run-id", "r")
        assert nel("eval", "run", "--bench", "a.py", *where, cwd=tmp_path).returncode == 3
        asked = [call for call in endpoint.calls if "q0" in str(call.body) or "q1" in str(call.body)]
    assert asked == []
    assert [line["reward"] for line in read_results(tmp_path / "out" / "r", "a")] == [None, None, 1.0]


def test_a_model_role_that_is_never_asked_is_noted(tmp_path: Path) -> None:
    """A judge of model_roles that the scorer never asked has the warning that a judge of the panel has."""
    (tmp_path / "b.py").write_text(BENCH.replace("{prompt}", "{q}") % "")
    write_jsonl(tmp_path / "rows.jsonl", [{"q": "q", "target": "5", "out": "5"}])
    config = {
        "benchmarks": [{"name": "b.py", "scorer": "contains", "response_field": "out"}],
        "model_roles": {"grader": {"url": "http://127.0.0.1:9/v1", "model": "judge"}},
    }
    (tmp_path / "run.json").write_text(json.dumps(config))
    done = nel("eval", "run", "run.json", "-o", "out", "--run-id", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    metrics = read_json(tmp_path / "out" / "r" / "b" / "metrics.json")
    assert [warning["kind"] for warning in metrics["warnings"]] == ["judge_not_asked"]
