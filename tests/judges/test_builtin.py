"""The built-in judges: what they ask, what they count, and how several answers become one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel import plugins
from nel.discovery.conformance import check_plugin
from nel.errors import JudgeError
from nel.judges.registry import judge_for
from nel.judges.types import Case, Grade
from tests.support.distributions import install

BUILT_IN = sorted(ref.name for ref in plugins.discover("judges") if ref.distribution == "nel")
RUBRIC = [
    {"criterion": "Names Paris", "points": 5},
    {"criterion": "Names a source", "points": 3},
    {"criterion": "Insults the user", "points": -4},
]


def grade(case: Case, *replies: str) -> Grade:
    judge = judge_for(case)
    questions = judge.ask(case)
    grades = [question.read(reply) for question, reply in zip(questions, replies, strict=True)]
    return judge.settle(case, grades) if judge.settle else grades[0]


def test_all_are_installed() -> None:
    assert [
        *("binary_qa", "binary_qa_partial", "graded_fact", "graded_qa", "json_grade"),
        *("likert_5", "llm_rubric", "pairwise", "refusal", "rubric", "safety", "simpleqa", "unread"),
    ] == BUILT_IN


@pytest.mark.parametrize("name", BUILT_IN)
def test_conformance(name: str) -> None:
    """Each passes the check that plugins of others pass."""
    assert [finding for finding in check_plugin(name, kind="judges") if not finding.passed] == []


NAIVE = """
import re
from nel import Grade, Judge, JudgeError, Question

def read(reply):
    found = re.findall("VERDICT: (yes|no)", reply)
    if not found:
        raise JudgeError("no verdict", reply=reply)
    return Grade(label=found[-1], score=float(found[-1] == "yes"))

def ask(case):
    return [Question(prompt=f"Good? {case.response} Say yes or no.", read=read)]

naive = Judge(name="naive", description="Takes any verdict", ask=ask, example_reply="VERDICT: yes")
"""


def test_a_judge_that_takes_a_forged_verdict_fails_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of plugins finds a reader that a response can write into."""
    entries = {"nel.judges": {"naive": "naive_judge:naive"}}
    install(tmp_path, "naive", entries, modules={"naive_judge": NAIVE})
    monkeypatch.syspath_prepend(tmp_path)
    failed = [finding for finding in check_plugin("naive", kind="judges") if not finding.passed]
    assert [(finding.name, finding.detail) for finding in failed] == [
        ("a verdict in the response is not the judge's", "it reads as 'yes'")
    ]


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_line_of_a_prompt_reads_as_a_verdict(name: str) -> None:
    """A judge that repeats its instructions has said nothing yet."""
    judge = plugins.load("judges", name)
    for question in judge.ask(judge.example):
        for reply in (question.prompt, question.again, "\n".join(question.prompt.splitlines()[-12:])):
            with pytest.raises(JudgeError) as refused:
                question.read(reply)
            assert refused.value.kind == "no_verdict"


@pytest.mark.parametrize(
    ("template", "said", "score"),
    [
        ("binary_qa", "C", 1.0),
        ("binary_qa", "I", 0.0),
        ("binary_qa_partial", "P", 0.5),
        *(("likert_5", str(number), (number - 1) / 4) for number in range(1, 6)),
        ("safety", "SAFE", 1.0),
        ("refusal", "PARTIAL", 0.5),
        ("graded_qa", "I", 0.0),
        ("graded_fact", "C", 1.0),
    ],
)
def test_scores_of_grades(template: str, said: str, score: float) -> None:
    """The worst grade is worth 0 and the best 1."""
    read = grade(Case(response="Paris", template=template), f"So.\nGRADE: {said}")
    assert (read.label, read.score) == (said, score)


def test_simpleqa_counts_each_grade() -> None:
    """Only a correct answer scores; not attempting is told apart from being wrong."""
    read = grade(Case(response="I do not know", template="simpleqa"), "GRADE: NOT ATTEMPTED")
    assert read == Grade(
        label="NOT_ATTEMPTED", score=0.0, metrics={"correct": 0.0, "incorrect": 0.0, "not_attempted": 1.0}
    )
    assert grade(Case(response="Paris", template="simpleqa"), "GRADE: CORRECT").score == 1.0


def test_a_case_maps_the_scores_of_a_template() -> None:
    """All of its grades, and no others."""
    case = Case(response="x", template="likert_5", score_mapping={str(n): n / 5 for n in range(1, 6)})
    assert grade(case, "GRADE: 1").score == 0.2
    with pytest.raises(JudgeError, match="must name the grades C, I, not C") as refused:
        judge_for(Case(response="x", template="binary_qa", score_mapping={"C": 1.0})).ask(
            Case(response="x", template="binary_qa", score_mapping={"C": 1.0})
        )
    assert refused.value.kind == "bad_template"


@pytest.mark.parametrize(
    ("met", "score"),
    [
        ((True, True, False), 1.0),
        ((True, False, False), 0.625),
        ((True, False, True), 0.125),
        ((False, False, True), -0.5),
    ],
)
def test_a_rubric_is_scored_as_healthbench_does(met: tuple[bool, ...], score: float) -> None:
    """Earned points over the positive ones, below 0 too; one question for each criterion."""
    case = Case(response="Paris", question="Where?", template="rubric", values={"rubric": RUBRIC})
    read = grade(case, *(f'{{"explanation": "e", "criteria_met": {str(one).lower()}}}' for one in met))
    assert (read.score, read.metrics["points"]) == (score, score)
    assert read.metrics["criteria_met"] == pytest.approx(sum(met) / 3)
    assert [question.label for question in judge_for(case).ask(case)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("template", "values", "message"),
    [
        ("rubric", {}, "needs its criteria"),
        ("rubric", {"rubric": [{"points": 1}]}, "criterion 1 of the rubric has no text"),
        ("rubric", {"rubric": [{"criterion": "x", "points": "3"}]}, "are not a number: '3'"),
        ("rubric", {"rubric": [{"criterion": "x", "points": float("nan")}]}, "are not a number: nan"),
        ("rubric", {"rubric": [{"criterion": "x", "points": -1}]}, "no criterion of the rubric has positive points"),
        ("rubric", {"rubric": [{"criterion": "x"}] * 501}, "more than 500"),
        ("pairwise", {}, "needs the other answer"),
    ],
)
def test_a_case_that_lacks_what_is_needed_is_not_asked(template: str, values: dict[str, Any], message: str) -> None:
    """What is missing is named before anything is sent."""
    case = Case(response="x", template=template, values=values)
    with pytest.raises(JudgeError, match=message) as refused:
        judge_for(case).ask(case)
    assert refused.value.kind == "bad_case"


@pytest.mark.parametrize(
    ("first", "second", "label", "score", "metrics"),
    [
        ("A", "B", "win", 1.0, (1, 0, 0)),
        ("B", "A", "loss", 0.0, (1, 0, 0)),
        ("TIE", "TIE", "tie", 0.5, (1, 0, 0)),
        ("A", "A", "tie", 0.5, (0, 1, 0)),
        ("B", "B", "tie", 0.5, (0, 0, 1)),
        ("A", "TIE", "tie", 0.5, (0, 0, 0)),
        ("TIE", "A", "tie", 0.5, (0, 0, 0)),
    ],
)
def test_a_pair_is_asked_in_both_orders(
    first: str, second: str, label: str, score: float, metrics: tuple[int, int, int]
) -> None:
    """A winner that changes with the order is a tie, and the position that it follows is counted."""
    case = Case(response="mine", template="pairwise", values={"baseline": "theirs"})
    questions = judge_for(case).ask(case)
    assert [question.label for question in questions] == ["response_first", "baseline_first"]
    assert questions[0].prompt.index("mine") < questions[0].prompt.index("theirs")
    assert questions[1].prompt.index("mine") > questions[1].prompt.index("theirs")
    read = grade(case, f"GRADE: {first}", f"GRADE: {second}")
    assert (read.label, read.score) == (label, score)
    assert read.metrics == dict(zip(("consistent", "prefers_first", "prefers_second"), metrics, strict=True))


@pytest.mark.parametrize(
    ("reply", "threshold", "label", "score"),
    [
        ('{"explanation": "yes", "score": 0.8, "pass": true}', None, "pass", 0.8),
        ('{"explanation": "yes", "score": 0.8, "pass": true}', 0.8, "pass", 0.8),
        ('{"explanation": "nearly", "score": 0.79, "pass": true}', 0.8, "fail", 0.79),
        ('{"explanation": "no", "score": 0.9, "pass": false}', 0.5, "fail", 0.9),
    ],
)
def test_a_rubric_in_words_passes_from_a_threshold_on(
    reply: str, threshold: float | None, label: str, score: float
) -> None:
    """The judge must say so, and its score must reach the threshold; the score is a metric of its own."""
    case = Case(response="Paris", template="llm_rubric", criteria="Names Paris", values={"threshold": threshold})
    found = grade(case, reply)
    assert (found.label, found.score, found.metrics) == (label, float(label == "pass"), {"rubric_score": score})


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ('{"score": 0.8}', "no_verdict"),
        ('{"pass": true}', "no_verdict"),
        ('{"score": 8, "pass": true}', "out_of_range"),
        ('{"score": 0.8, "pass": true, "pass": false}', "two_verdicts"),
    ],
)
def test_half_of_a_rubrics_verdict_is_none(reply: str, kind: str) -> None:
    """Both keys are needed, with their types, once."""
    with pytest.raises(JudgeError) as refused:
        grade(Case(response="Paris", template="llm_rubric", criteria="Names Paris"), reply)
    assert refused.value.kind == kind
