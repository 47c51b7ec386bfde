"""`nel plugin check` of benchmarks that a judge scores: no judge is asked, and what cannot be asked is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.discovery.conformance import check_plugin
from tests.support.runs import nel, write_jsonl

BENCH = """
from nel import ScorerInput, benchmark, needs_judge, scorer
from nel.byob.judge import judge_score

@benchmark(name="asked", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
HOW
"""
PAIRS = [{"id": f"p{n}", "question": "Which?", "response": f"this {n}", "baseline": f"that {n}"} for n in range(3)]


def test_pairs_are_checked_without_a_judge(tmp_path: Path) -> None:
    """Two questions to a pair; a row without the other answer is a bad row."""
    path = write_jsonl(tmp_path / "pairs.jsonl", PAIRS)
    done = nel("plugin", "check", "pairwise", "--kind", "benchmarks", "--dataset", str(path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ok    every answer makes questions for a judge: 6 questions about 3 samples; none was sent" in done.stdout
    write_jsonl(path, [*PAIRS, {"id": "p3", "question": "Which?", "response": "this"}])
    findings = check_plugin("pairwise", kind="benchmarks", dataset=str(path))
    (failed,) = [finding for finding in findings if not finding.passed]
    assert failed.name == "every row makes a sample"
    assert "baseline" in failed.detail


def test_pairs_without_a_dataset_say_where_they_come_from(tmp_path: Path) -> None:
    """The benchmark has no rows of its own; the message names the flag."""
    done = nel("plugin", "check", "pairwise", "--kind", "benchmarks", cwd=tmp_path)
    assert done.returncode == 2
    assert "pairwise has no rows of its own; give --dataset FILE" in done.stdout


@pytest.mark.parametrize(
    ("how", "passed", "said"),
    [
        ("def s(sample: ScorerInput) -> dict:\n    return needs_judge(sample)", True, "2 questions about 2 samples"),
        (
            """def s(sample: ScorerInput) -> dict:
    fact = judge_score(sample)["judge_score"]
    return {"correct": fact, "style": judge_score(sample, template="likert_5")["judge_score"]}""",
            True,
            "4 questions about 2 samples",
        ),
        (
            "async def s(sample: ScorerInput) -> dict:\n    return {'x': (await judge_score(sample))['judge_score']}",
            True,
            "2 questions about 2 samples",
        ),
        (
            "def s(sample: ScorerInput) -> dict:\n    return needs_judge(sample, template='{response} of {domain}')",
            False,
            'sample "q1": the template needs "domain", which neither the row nor the scorer provides; available:',
        ),
    ],
)
def test_a_benchmark_of_ones_own_is_checked_as_it_asks(tmp_path: Path, how: str, passed: bool, said: str) -> None:
    """Handed over, asked twice, awaited; and a field that only the first row has."""
    rows = [{"id": "q0", "question": "a", "answer": "b", "domain": "law"}, {"id": "q1", "question": "c", "answer": "d"}]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    (tmp_path / "asked.py").write_text(BENCH.replace("HOW", how))
    findings = {one.name: one for one in check_plugin(str(tmp_path / "asked.py"))}
    assert "a gold answer scores 1" not in findings
    found = findings["every answer makes questions for a judge"]
    assert (found.passed, said in found.detail) == (passed, True), found.detail
