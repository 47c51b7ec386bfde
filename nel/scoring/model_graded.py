"""Scorers that let a model grade the answer, with the names and parameters of Inspect.

Source: Inspect's ``model_graded_qa`` and ``model_graded_fact``. As there, the last grade of a reply
counts, and a reply without one leaves the sample unscored. Beyond Inspect, the run sends, stores
and counts the judge's requests; what the model wrote is quoted, so that it cannot pass for the
grader's instructions; an unreadable reply is requested once more. Depends on `nel.judges` for cases
and on `nel.scoring.delegation`. Note: a template names fields as ``{field}`` and ``{field.key}``;
Python's ``{field[key]}`` is not supported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from nel.errors import ConfigError
from nel.judges.record import judgement_json
from nel.judges.types import Case, Judgement
from nel.metrics import accuracy, stderr
from nel.scoring.delegation import ask_judge, check_grade_pattern
from nel.scoring.golds import texts_in
from nel.scoring.protocol import await_result, scorer
from nel.scoring.states import Target, TaskState
from nel.types import Score, Scorer, ScorerInput

_QA: Final = """You are assessing a submitted answer on a given task by a criterion.

Task: {question}

Submission: {answer}

Criterion: {criterion}

Does the submission meet the criterion?

{instructions}"""
_FACT: Final = """You are comparing a submitted answer with an expert's answer to a question.

Question: {question}

Expert's answer: {criterion}

Submission: {answer}

Compare what both say, and leave style, grammar and punctuation aside. Does the submission contain what the expert's
answer says?

{instructions}"""
GRADER: Final = "grader"
"""The role of the run's own judges; the default where neither a model nor a role is given."""
_VALUES: Final = {"C": 1.0, "P": 0.5, "I": 0.0}
_RESERVED: Final = ("question", "answer", "criterion", "instructions", "partial_credit")
History = bool | Callable[[TaskState], str]


@scorer(metrics=[accuracy(), stderr()], asks_judge=True)
def model_graded_qa(
    template: str | None = None,
    instructions: str | None = None,
    grade_pattern: str | None = None,
    include_history: History = False,
    partial_credit: bool = False,
    model: str | Sequence[str] | None = None,
    model_role: str | None = "grader",
) -> Scorer:
    """Let a model say whether the answer meets the target as its criterion: C, I, or P for partly.

    Args:
        template: Text with ``{question}``, ``{answer}``, ``{criterion}``, ``{instructions}`` and
            the row's fields; instead of the run's ``judge.template``, which is used where this is
            left out.
        instructions: How to grade and in what form to reply, instead of the default.
        grade_pattern: Regular expression whose first group is the grade; the last match counts.
        include_history: Show the whole conversation as the question, or what this function returns
            for it.
        partial_credit: Offer P for partly correct, which counts 0.5; for the default instructions.
        model: The grader, by its name in the run's panel or ``model_roles``; of several the
            majority counts.
        model_role: Where no model is named: the models with this role in ``model_roles``. If none
            has the role ``grader``, the run's judge grades; in a run without a judge the evaluated
            model itself, with a warning.

    Raises:
        ConfigError: The template lacks the answer, or the pattern a group.
        JudgeError: While scoring: there is no grade; the sample is unscored.
    """
    shared = _shared_case(
        "graded_qa", _QA, template, instructions, grade_pattern, partial_credit=partial_credit
    )
    return _graded_scorer(shared, _judges_of(model, model_role), include_history)


@scorer(metrics=[accuracy(), stderr()], asks_judge=True)
def model_graded_fact(
    template: str | None = None,
    instructions: str | None = None,
    grade_pattern: str | None = None,
    include_history: History = False,
    partial_credit: bool = False,
    model: str | Sequence[str] | None = None,
    model_role: str | None = "grader",
) -> Scorer:
    """Let a model say whether an answer has the target's facts, by `model_graded_qa`'s parameters.

    Raises:
        ConfigError: As `model_graded_qa`, which holds for `JudgeError` too.
    """
    shared = _shared_case(
        "graded_fact", _FACT, template, instructions, grade_pattern, partial_credit=partial_credit
    )
    return _graded_scorer(shared, _judges_of(model, model_role), include_history)


def _shared_case(
    judge: str,
    default: str,
    template: str | None,
    instructions: str | None,
    grade_pattern: str | None,
    *,
    partial_credit: bool,
) -> Case:
    """Return what cases share: the author's template, else the run's, else an installed judge's.

    Raises:
        ConfigError: The template does not show the answer, or the pattern has no group.
    """
    if grade_pattern is not None:
        check_grade_pattern(grade_pattern, name="grade_pattern")
    if template is not None and not re.search(r"\{\s*answer\s*\}", template):
        raise ConfigError(
            "the grading template shows the grader no {answer}; put it where the answer belongs"
        )
    values: dict[str, object] = {"partial_credit": partial_credit}
    if not template and not instructions:
        return Case(
            response="",
            template=judge,
            yields_template=True,
            values=values,
            grade_pattern=grade_pattern,
        )
    letters = "CPI" if partial_credit or instructions else "CI"
    return Case(
        response="",
        template=template or default,
        yields_template=template is None,
        values=values | ({"instructions": instructions} if instructions else {}),
        grade_pattern=grade_pattern,
        score_mapping=(
            {letter: _VALUES[letter] for letter in letters} if grade_pattern is None else None
        ),
    )


def _graded_scorer(shared: Case, judges: tuple[str, ...], include_history: History) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        row = {name: value for name, value in state.metadata.items() if name not in _RESERVED}
        case = replace(
            shared,
            response=state.output.completion,
            question=_question(state, include_history),
            reference=target.text,
            values={**row, **shared.values},
            judges=judges,
            aggregate="majority" if len(judges) > 1 else None,
        )
        return _score_of(await await_result(ask_judge(state.sample, case)), case)

    score.judges = judges  # type: ignore[attr-defined]
    score.takes_gold = partial(_criterion_gold, shared)  # type: ignore[attr-defined]
    return score  # type: ignore[return-value]


def _criterion_gold(
    shared: Case, sample: ScorerInput, *, judges_by_reference: bool = True, **_: object
) -> object:
    """Return a sample's criterion, or anything where the template in use shows none.

    Raises:
        DatasetError: It is empty.
    """
    from nel.judges.custom_templates import (  # noqa: PLC0415 - loads the readers of replies
        custom_judge,
    )

    needs = (
        judges_by_reference
        if shared.yields_template
        else custom_judge(shared.template).needs_reference
    )
    return texts_in(sample.target) if needs else None


def _score_of(judgement: Judgement, case: Case) -> Score:
    grade = judgement.grade
    return Score(
        value=grade.label if _VALUES.get(grade.label) == grade.score else grade.score,
        answer=case.response,
        explanation=grade.explanation
        or next((opinion.reply for opinion in judgement.opinions if opinion.grade is not None), ""),
        metadata={"grading": judgement_json(judgement)},
    )


def _judges_of(model: str | Sequence[str] | None, model_role: str | None) -> tuple[str, ...]:
    names = [model] if isinstance(model, str) else list(model or ())
    for judge in names:
        if not isinstance(judge, str):
            raise ConfigError(
                f"model is {judge!r}; give the name of a model in the run's judge.panel or"
                " model_roles"
            )
    return tuple(names) or ((model_role,) if model_role is not None else (GRADER,))


def _question(state: TaskState, include_history: History) -> str:
    if callable(include_history):
        return str(include_history(state))
    return chat_history(state) if include_history else state.input_text


def chat_history(state: TaskState) -> str:
    """Return a chat before its last answer as text: the first bare, the others after their role."""
    turns: list[Mapping[str, Any]] = list(state.messages)
    if not turns and not isinstance(state.input, str):
        turns = [{"role": message.role, "content": message.content} for message in state.input]
    turns = [turn for turn in turns if turn["role"] != "system"]
    answers = [index for index, turn in enumerate(turns) if turn["role"] == "assistant"]
    if state.messages and answers:
        turns = turns[: answers[-1]]
    if not turns:
        return state.input_text
    opening, *others = ((str(turn["role"]), content_text(turn["content"])) for turn in turns)
    return "\n\n".join([opening[1], *(f"{role.capitalize()}: {text}" for role, text in others)])


def content_text(content: str | Sequence[Mapping[str, object]]) -> str:
    """Return a message's content as text; parts that are not a text as their type in brackets."""
    if isinstance(content, str):
        return content
    return "\n".join(str(item.get("text", f"[{item.get('type', 'part')}]")) for item in content)
