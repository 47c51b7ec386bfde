"""Small tasks of Inspect whose scorers ask a model."""

from __future__ import annotations

import asyncio
import json

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
    get_model,
)
from inspect_ai.model._model_role import ModelRole
from inspect_ai.scorer import (
    Score,
    Scorer,
    Target,
    accuracy,
    includes,
    match,
    mean,
    model_graded_fact,
    model_graded_qa,
    multi_scorer,
    scorer,
)
from inspect_ai.solver import TaskState, generate, system_message
from inspect_ai.util import json_schema

SUMS = [
    Sample(
        id=f"sum-{n:02}",
        input=f"What is {n} plus {n}?",
        target=f"It is {2 * n}",
        metadata={"unit": "apples"},
    )
    for n in range(12)
]
CHATS = [
    Sample(
        id=f"sum-{n:02}",
        input=[
            ChatMessageSystem(content="Answer with a number."),
            ChatMessageUser(content="What is 1 plus 1?"),
            ChatMessageAssistant(content="2"),
            ChatMessageUser(content=f"What is {n} plus {n}?"),
        ],
        target=str(2 * n),
    )
    for n in range(12)
]
_WORDED = {
    "template": "Q: {question}\nA ({unit}): {answer}\nMust hold: {criterion}\n{instructions}",
    "instructions": "End with VERDICT: yes or VERDICT: no.",
    "grade_pattern": r"VERDICT:\s*(\w+)",
}


@scorer(metrics=[mean()])
def by_json(role: str | None = "grader") -> Scorer:
    """Ask twice, in order, with settings and a system message, and read a number out of JSON."""

    async def score(state: TaskState, target: Target) -> Score:
        if not state.output.completion:
            return Score(value=0)
        model = get_model(role=role) if role else get_model()
        claim = await model.generate(f"What does it claim? {state.output.completion}")
        verdict = await model.generate(
            [
                ChatMessageSystem(content="You are a strict examiner."),
                ChatMessageUser(
                    content=f"JSON, please: does {claim.completion!r} agree with {target.text!r}?"
                ),
            ],
            config=GenerateConfig(
                temperature=0.5,
                max_tokens=99,
                frequency_penalty=0.1,
                max_retries=9,
                response_schema=ResponseSchema(name="verdict", json_schema=json_schema(float)),
            ),
        )
        return Score(value=json.loads(verdict.completion)["score"], answer=claim.completion)

    return score


@scorer(metrics=[accuracy()])
def careless() -> Scorer:
    """Take whatever goes wrong, and whatever is not a plain yes, for a wrong answer."""

    async def score(state: TaskState, target: Target) -> Score:
        try:
            said = (await get_model().generate(f"Is {state.output.completion} right?")).completion
        except Exception:  # noqa: BLE001 - what careless scorers do
            said = "no"
        return Score(value="C" if said.startswith("yes") else "I")

    return score


@scorer(metrics={"found": [mean()], "sure": [mean()]})
def confessing() -> Scorer:
    """Look at well-formed answers alone, and own up to a grader that cannot be understood."""

    async def score(state: TaskState, target: Target) -> Score:
        if not state.output.completion.startswith("ANSWER: "):
            return Score(value={"found": None, "sure": 1.0})
        said = (
            await get_model(role="grader").generate(f"Right? {state.output.completion}")
        ).completion
        if "maybe" in said:
            return Score(
                value={"found": 0, "sure": 0.5},
                reason="grader_failed",
                explanation=f"it says: {said}",
            )
        return Score(value={"found": float(said) if said != "?:" else float("nan"), "sure": 0.0})

    return score


@scorer(metrics=[accuracy()])
def at_once() -> Scorer:
    """Ask three questions at once; all must be answered with yes."""

    async def score(state: TaskState, target: Target) -> Score:
        model = get_model(role="critic", default="openai/gpt-4o")
        asked = (
            model.generate(f"{one}, {state.output.completion}?")
            for one in ("Short", "True", "Kind")
        )
        replies = await asyncio.gather(*asked)
        return Score(value=all(one.completion == "yes" for one in replies))

    return score


@scorer(metrics=[accuracy()])
def by_name(name: str = "openai/gpt-4o") -> Scorer:
    """Ask a model by its name, made with the task."""
    model = get_model(name, config=GenerateConfig(seed=7))

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=(await model.generate(state.output.completion)).completion)

    return score


@scorer(metrics=[accuracy()])
def with_settings(**settings: object) -> Scorer:
    """Give a grader what nel does not send."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(
            value=(
                await get_model().generate("Well?", config=GenerateConfig(**settings))
            ).completion
        )

    return score


@scorer(metrics=[accuracy()])
def by_role_alone() -> Scorer:
    """Insist on a grader that is not the evaluated model."""

    async def score(state: TaskState, target: Target) -> Score:
        grader = get_model(role="grader", required=True)
        return Score(value=(await grader.generate("Yes or no?")).completion)

    return score


_SCORERS = {
    "qa": model_graded_qa,
    "fact": lambda: model_graded_fact(partial_credit=True, model_role=None),
    "worded": lambda: model_graded_qa(**_WORDED),
    "instructed": lambda: model_graded_qa(
        instructions="Say why, then GRADE: C, GRADE: P or GRADE: I."
    ),
    "history": lambda: model_graded_qa(include_history=True),
    "own_history": lambda: model_graded_qa(include_history=lambda state: f"<{state.input_text}>"),
    "both": lambda: [match(location="any"), model_graded_fact()],
    "mixed": lambda: multi_scorer([model_graded_qa(), includes()], "mean"),
    "json": by_json,
    "json_of_active": lambda: by_json(role=None),
    "careless": careless,
    "confessing": confessing,
    "at_once": at_once,
    "named": by_name,
    "graded_by_name": lambda: model_graded_qa(model="openai/gpt-4o"),
    "panel": lambda: model_graded_qa(
        partial_credit=True, model=["openai/one", "openai/two", "openai/three"]
    ),
    "panel_of_models": lambda: model_graded_qa(
        model=[get_model("openai/one"), get_model("openai/two")]
    ),
    "in_mode": lambda: model_graded_qa(
        model=["openai/one", "openai/two", "openai/three"], reducer="mode"
    ),
    "required": lambda: model_graded_qa(model_role=ModelRole("critic", required=True)),
    "grader_required": by_role_alone,
    "ranked": lambda: with_settings(num_choices=3),
}


@task
def graded(kind: str, bound: str = "", chat: bool = False) -> Task:
    """Be scored by a model in one of many ways."""
    return Task(
        dataset=list(CHATS if chat else SUMS),
        solver=[system_message("Count."), generate()],
        scorer=_SCORERS[kind](),
        model_roles={"grader": bound.split("|") if "|" in bound else bound} if bound else None,
    )
