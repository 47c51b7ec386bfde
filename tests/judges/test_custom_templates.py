"""Templates of one's own: what they may hold, and what is refused before anything is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel.errors import ConfigError, JudgeError
from nel.judges.registry import check_template, judge_for
from nel.judges.types import Case, Grade
from tests.support.distributions import install

NEMO = "Rate {response} for {domain}.\nGRADE: "
THREE = {"1": 0.0, "2": 0.5, "3": 1.0}


def read(reply: str, template: str = "Grade {response}", **case: Any) -> Grade:
    given = Case(response="Paris", template=template, **case)
    (question,) = judge_for(given).ask(given)
    return question.read(reply)


@pytest.mark.parametrize(
    ("reply", "score"), [("2", 0.5), ("GRADE: 3", 1.0), ("It is fine.\nGRADE: 1", 0.0), ("3.", 1.0)]
)
def test_a_template_of_nemo_evaluator_works(reply: str, score: float) -> None:
    """Its prompt ends with the keyword, so a reply may be the grade alone."""
    case = {"values": {"domain": "medicine"}, "grade_pattern": r"GRADE:\s*(\d)", "score_mapping": THREE}
    assert read(reply, NEMO, **case).score == score
    given = Case(response="Paris", template=NEMO, **case)
    (question,) = judge_for(given).ask(given)
    assert question.prompt.endswith(".\nGRADE: ")
    with pytest.raises(JudgeError):
        question.read("4")


@pytest.mark.parametrize(
    ("reply", "case", "label", "score"),
    [
        ("GRADE: C", {}, "C", 1.0),
        ("GRADE: partial", {}, "P", 0.5),
        ("GRADE: good", {"score_mapping": {"good": 0.9, "bad": 0.1}}, "good", 0.9),
        ("Score: 7.5", {"grade_pattern": r"Score: ([\d.]+)"}, "7.5", 7.5),
        ("Answer: NO", {"grade_pattern": r"(?i)Answer: (YES|NO)"}, "NO", 0.0),
    ],
)
def test_grades_and_their_scores(reply: str, case: dict[str, Any], label: str, score: float) -> None:
    """Of the mapping, or what letters, yes and no, and numbers are worth."""
    grade = read(reply, **case)
    assert (grade.label, grade.score) == (label, score)


@pytest.mark.parametrize(
    ("template", "case", "message"),
    [
        ("Grade {question}", {}, "does not name the response"),
        ("Grade {response", {}, 'a single "{"'),
        ("binary-qa", {}, 'no judge "binary-qa" is installed; did you mean "binary_qa"'),
        ("{response}", {"grade_pattern": "("}, "is not a regular expression"),
        ("{response}", {"grade_pattern": "(GOOD|BAD)"}, "'BAD' of the pattern '(GOOD|BAD)' has no score"),
        ("{response}", {"score_mapping": {}}, "grades need finite numbers"),
        ("likert_5", {"score_mapping": {"1": 0.0}}, "must name the grades 1, 2, 3, 4, 5"),
    ],
)
def test_what_cannot_work_is_said_early(template: str, case: dict[str, Any], message: str) -> None:
    """Before anything is asked, with the next step; for a sample it is a fault of the judge."""
    with pytest.raises(ConfigError) as early:
        check_template(template, **case)
    assert message in str(early.value)
    given = Case(response="x", template=template, **case)
    with pytest.raises(JudgeError) as late:
        judge_for(given).ask(given)
    assert late.value.kind == "bad_template"


BREAKS = """
from nel import Judge

def ask(case):
    raise KeyError("gold")

strict = Judge(name="strict", description="Breaks", ask=ask, example_reply="")
"""


def test_a_judge_that_fails_on_its_own_example_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin's fault while a run is planned names the plugin and what to do, and is not a crash."""
    entries = {"nel.judges": {"strict": "judge_that_breaks:strict"}}
    install(tmp_path, "breaks", entries, modules={"judge_that_breaks": BREAKS})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r'"strict" fails on its own example: KeyError.*nel plugin check strict'):
        check_template("strict")
