"""Pairs judged by a template of one's own, with verdicts of several steps, as Arena-Hard and MT-bench have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel.errors import ConfigError
from nel.judges.registry import check_template, judge_for
from nel.judges.types import Case, Grade
from nel.runs.evaluation import evaluate
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_json, read_results, write_jsonl

TEMPLATE = "Question: {question}\nAssistant A: {answer_a}\nAssistant B: {answer_b}\nEnd with [[A>>B]] … [[B>>A]]."
ARENA = r"\[\[([AB<>=]+)\]\]"
MT_BENCH = r"\[\[([ABC])\]\]"


def grade(pattern: str | None, *replies: str, mapping: dict[str, float] | None = None, **values: Any) -> Grade:
    """Return the grade of a pair from the replies in both orders."""
    case = Case(
        response="Paris",
        question="The capital?",
        template=TEMPLATE,
        grade_pattern=pattern,
        score_mapping=mapping,
        values={"baseline": "Lyon", **values},
    )
    judge = judge_for(case)
    questions = judge.ask(case)
    assert judge.settle is not None
    return judge.settle(case, [question.read(reply) for question, reply in zip(questions, replies, strict=True)])


@pytest.mark.parametrize(
    ("pattern", "replies", "score", "label", "consistent"),
    [
        (ARENA, ("My final verdict is: [[A>>B]]", "B is much better: [[B>>A]]"), 1.0, "win", 1.0),
        (ARENA, ("[[A>B]]", "[[B>>A]]"), 0.875, "win", 1.0),
        (ARENA, ("[[A=B]]", "[[A=B]]"), 0.5, "tie", 1.0),
        (ARENA, ("[[A>B]]", "[[A>>B]]"), 0.375, "loss", 0.0),
        (MT_BENCH, ("[[A]]", "[[B]]"), 1.0, "win", 1.0),
        (MT_BENCH, ("[[A]]", "[[A]]"), 0.5, "tie", 0.0),
        (MT_BENCH, ("[[A]]", "[[C]]"), 0.5, "tie", 0.0),
        (None, ("GRADE: B", "GRADE: A"), 0.0, "loss", 1.0),
    ],
)
def test_verdicts_of_both_orders_become_one_score(
    pattern: str | None, replies: tuple[str, str], score: float, label: str, consistent: float
) -> None:
    """The score is the response's, wherever it was shown; a winner that changes without a step between is a tie."""
    found = grade(pattern, *replies)
    assert (found.score, found.label, found.metrics["consistent"]) == (score, label, consistent)


def test_scores_of_ones_own() -> None:
    """A mapping gives the scores of answer A."""
    assert grade(ARENA, "[[A>B]]", "[[B>A]]", mapping={"A>B": 1.0, "B>A": 0.0}).score == 1.0
    with pytest.raises(ConfigError, match="from 0 to 1"):
        check_template(TEMPLATE, grade_pattern=ARENA, score_mapping={"A>B": 3.0})


def _prefers_paris(call: Call, _: int) -> Reply:
    first = call.text.index("Paris") < call.text.index("Lyon")
    return answer(
        f"Assistant {'A' if first else 'B'} is right.\n\nMy final verdict is: [[{'A>>B' if first else 'B>A'}]]"
    )


def _config(tmp_path: Path, url: str, **judge: Any) -> dict[str, Any]:
    write_jsonl(tmp_path / "pairs.jsonl", [{"question": "The capital?", "response": "Paris", "baseline": "Lyon"}])
    return {
        "benchmarks": [{"name": "pairwise", "dataset": str(tmp_path / "pairs.jsonl")}],
        "output": {"dir": str(tmp_path / "out"), "run_id": "r"},
        "judge": {"url": url, "model": "j", **judge},
    }


def test_a_run_of_pairs_uses_the_runs_template_and_pattern(tmp_path: Path) -> None:
    """``judge.template`` and ``judge.grade_pattern`` hold for `pairwise`, and so for leaderboards."""
    with scripted(_prefers_paris) as judge:
        result = evaluate(_config(tmp_path, judge.url, template=TEMPLATE, grade_pattern=ARENA))
    assert (result.exit_code, len(judge.calls)) == (0, 2)
    assert "Assistant A: <<<ANSWER_A" in judge.calls[0].text
    assert read_results(result.run_dir, "pairwise")[0]["reward"] == 0.875
    (swap,) = read_json(result.run_dir / "pairwise" / "metrics.json")["judging"]["position_swap"]
    assert (swap["n_pairs"], swap["n_consistent"]) == (1, 1)


def test_a_template_of_one_answer_is_refused_for_pairs(tmp_path: Path) -> None:
    """It would show the judge the response alone and count its grade as a win."""
    with scripted(_prefers_paris) as judge:
        result = evaluate(_config(tmp_path, judge.url, template="Is {response} right? {instructions}"))
    (row,) = read_results(result.run_dir, "pairwise")
    assert (result.exit_code, len(judge.calls), row["outcome"]["kind"]) == (3, 0, "bad_template")
