"""Handing a sample over to a judge, alone and among other scorers."""

from __future__ import annotations

from typing import Any

import pytest

from nel.byob.scorers import contains
from nel.errors import ConfigError, JudgeError
from nel.judges.types import Case
from nel.scorers import Target, exact, model_graded_fact, model_graded_qa, multi_scorer
from nel.scoring import all_of, any_of, needs_judge, scorer
from nel.scoring.declarations import asks_judge
from nel.scoring.delegation import case_of
from nel.scoring.model_graded import chat_history
from nel.scoring.protocol import as_scorer
from nel.scoring.states import state_of
from nel.types import Message, Sample, Score, ScorerInput
from tests.support.judging import FakeJudge, asked, failing, judgement, saying


def test_a_hand_off_is_as_other_tools_expect() -> None:
    """Exactly these two keys; what a scorer says of the judge comes with a case."""
    given = asked(None)
    assert needs_judge(given) == {"correct": False, "needs_judge": True}
    assert case_of(needs_judge(given), given) == Case(response="Paris")
    case = needs_judge(given, template="rubric", criteria="c", judges=["a"], rubric=[1])["judge_case"]
    assert case == Case(response="Paris", template="rubric", criteria="c", judges=("a",), values={"rubric": [1]})


@scorer
def handing(sample: ScorerInput) -> dict[str, Any]:
    return needs_judge(sample, template="likert_5")


@scorer
async def handing_later(sample: ScorerInput) -> dict[str, Any]:
    return needs_judge(sample, template="likert_5")


def test_composed_scorers_wait_for_the_judge() -> None:
    """A member that hands over counts as the judge says, and not as wrong."""
    judge = saying("C", 1.0)
    found = any_of(contains, handing)(asked(judge.now, response="Lutetia"))
    assert found == {
        "correct": True,
        "contains_correct": False,
        "handing_correct": 1.0,
        "handing_judge_grade": "C",
    }  # type: ignore[comparison-overlap]
    for composed in (all_of(contains, handing), any_of(contains, handing)):
        with pytest.raises(JudgeError):
            composed(asked(failing().now))


def by_judge(grades: dict[str, tuple[str, float]]) -> FakeJudge:
    return FakeJudge(lambda case: judgement(*grades[case.judges[0]], judge=case.judges[0]))


async def test_several_scorers_and_judges_become_one_score() -> None:
    """A judge with a rule by the mean, three judges by their mode, and one that hands over."""
    judge = by_judge({"a": ("C", 1.0), "b": ("I", 0.0), "c": ("I", 0.0)})
    given = asked(judge.later)
    mixed = multi_scorer([model_graded_qa(model="a"), exact()], "mean")
    assert (await mixed(given)).value == 1.0
    three = multi_scorer([model_graded_qa(model=name) for name in "abc"], "mode")
    assert (await three(given)).value == "I"
    assert asks_judge(mixed)
    assert asks_judge(three)
    assert not asks_judge(multi_scorer([exact()], "mean"))
    handed = multi_scorer([handing, exact()], "max")
    assert handed(asked(saying("4", 0.75).now, response="Lutetia")).value == 0.75


async def test_a_judge_that_fails_leaves_the_whole_unscored() -> None:
    """Its verdict is missing; the others do not stand for it."""
    for members in ([model_graded_qa(), exact()], [handing_later, exact()]):
        with pytest.raises(JudgeError):
            await multi_scorer(members, "max")(asked(failing().later))
    with pytest.raises(JudgeError):
        multi_scorer([handing, exact()], "max")(asked(failing().now))


async def test_a_graded_answer() -> None:
    """The grade, the answer, the reasons and who said so; the case holds what Inspect's template variables are."""
    judge = saying("P", 0.5)
    score: Score = await model_graded_qa(partial_credit=True)(asked(judge.later))
    assert (score.value, score.answer, score.explanation) == ("P", "Paris", "I say P")
    assert score.metadata is not None
    assert score.metadata["grading"]["opinions"][0]["reply"] == "GRADE: P"
    (case,) = judge.cases
    assert (case.question, case.reference, case.judges) == ("Q: The capital of France?", "Paris", ("grader",))
    assert case.template == "graded_qa"
    assert case.values == {"topic": "geography", "partial_credit": True}
    assert asks_judge(model_graded_qa())
    assert asks_judge(as_scorer(model_graded_fact))


async def test_a_graders_own_template_and_reading() -> None:
    """Custom texts and patterns are taken as they are; several graders come to a majority."""
    judge = saying("8", 8.0)
    graded = model_graded_fact(
        template="{topic}: {answer} of {criterion}? {instructions}",
        instructions="Say {n} out of 10",
        grade_pattern=r"(\d+) out of",
        model=["a", "b", "c"],
        model_role="unused",
    )
    assert (await graded(asked(judge.later))).value == 8.0
    (case,) = judge.cases
    assert case.template == "{topic}: {answer} of {criterion}? {instructions}"
    assert case.values["instructions"] == "Say {n} out of 10"
    assert (case.grade_pattern, case.score_mapping) == (r"(\d+) out of", None)
    assert (case.judges, case.aggregate) == (("a", "b", "c"), "majority")


async def test_the_history_of_a_conversation() -> None:
    """System messages are left out, the first message is bare, and the last answer is not in it."""
    talk = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": [{"type": "text", "text": "The capital?"}]},
        {"role": "assistant", "content": "Paris"},
    ]
    judge = saying("C", 1.0)
    given = asked(judge.later)
    given.conversation = talk
    await model_graded_qa(include_history=True)(given)
    assert judge.cases[0].question == "Hi\n\nAssistant: Hello\n\nUser: The capital?"
    await model_graded_qa(include_history=lambda state: state.input_text.upper())(given)
    assert judge.cases[1].question == "Q: THE CAPITAL OF FRANCE?"
    messages = (Message(role="user", content="a"), Message(role="assistant", content="b"))
    bare = ScorerInput(response="x", target="y", sample=Sample(id="1", input=messages))
    assert chat_history(state_of(bare)) == "a\n\nAssistant: b"
    with pytest.raises(JudgeError, match="outside of a run"):
        await model_graded_qa()(state_of(bare), Target("y"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"template": "Is it {criterion}?"}, "shows the grader no {answer}"),
        ({"grade_pattern": "GRADE: [CI]"}, "has no group"),
        ({"grade_pattern": "("}, "is not a regular expression"),
        ({"model": [1]}, "give the name of a model"),
    ],
)
def test_a_grader_that_cannot_work(options: dict[str, Any], message: str) -> None:
    """It is refused when it is built, before anything is sent."""
    with pytest.raises(ConfigError, match=message):
        model_graded_qa(**options)
