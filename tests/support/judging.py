"""A judge at the seam where scorers ask one: it keeps the cases and gives scripted answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nel.errors import JudgeError
from nel.judges.registry import judge_for
from nel.judges.types import Case, Grade, Judgement, Opinion
from nel.types import Sample, ScorerInput


def judgement(
    label: str, score: float, *, judge: str = "j", reply: str = "", metrics: Mapping[str, float] | None = None
) -> Judgement:
    grade = Grade(label=label, score=score, explanation=f"I say {label}", metrics=metrics or {})
    opinions = (Opinion(judge=judge, grade=grade, reply=reply or f"GRADE: {label}"),)
    return Judgement(template="t", grade=grade, aggregate="majority", quorum=1, opinions=opinions)


class FakeJudge:
    """Answers every case with what `verdict` makes of it."""

    def __init__(self, verdict: Callable[[Case], Judgement]) -> None:
        """Take what answers."""
        self.verdict = verdict
        self.cases: list[Case] = []

    def now(self, case: Case) -> Judgement:
        """As sync scorers are given it."""
        self.cases.append(case)
        return self.verdict(case)

    async def later(self, case: Case) -> Judgement:
        """As async scorers are given it."""
        return self.now(case)


def saying(label: str, score: float) -> FakeJudge:
    """Return a judge that always says the same."""
    return FakeJudge(lambda _: judgement(label, score))


def replying(*replies: str) -> FakeJudge:
    """Return a judge of the case's own kind that gives these replies to its questions."""

    def verdict(case: Case) -> Judgement:
        judge = judge_for(case)
        questions = judge.ask(case)
        given = replies if len(replies) > 1 else replies * len(questions)
        grades = [question.read(reply) for question, reply in zip(questions, given, strict=True)]
        grade = grades[0] if judge.settle is None else judge.settle(case, grades)
        return judgement(grade.label, grade.score, reply=replies[-1], metrics=grade.metrics)

    return FakeJudge(verdict)


def failing(kind: str = "no_verdict") -> FakeJudge:
    """Return a judge that never comes to a verdict."""

    def fail(case: Case) -> Judgement:
        raise JudgeError("it said nothing of use", kind=kind, reply="hm")

    return FakeJudge(fail)


def asked(judge_fn: Callable[[Case], Any] | None, response: str = "Paris", target: Any = "Paris") -> ScorerInput:
    row = {"question": "The capital of France?", "topic": "geography"}
    sample = Sample(id="s1", input="Q: The capital of France?", target=target, metadata=row)
    return ScorerInput(response=response, target=target, metadata=dict(row), sample=sample, judge_fn=judge_fn)
