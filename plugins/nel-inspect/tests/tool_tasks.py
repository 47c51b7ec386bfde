"""Tasks of Inspect that offer tools: to the model for its one answer, and to graders."""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, accuracy, match, scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools
from inspect_ai.tool import Tool, ToolCall, ToolDef, ToolFunction, ToolParam, ToolParams, tool

SUMS = [Sample(id=f"sum-{n}", input=f"What is {n} plus {n}?", target=str(2 * n)) for n in range(8)]


@tool
def add() -> Tool:
    """Return a tool."""

    async def execute(x: int, y: int = 0) -> int:
        """Add two numbers.

        Args:
            x: One.
            y: Another.
        """
        return x + y

    return execute


@tool
def say() -> Tool:
    """Return a tool."""

    async def execute(words: list[str]) -> str:
        """Say words.

        Args:
            words: In order.
        """
        return " ".join(words)

    return execute


@scorer(metrics=[accuracy()])
def called() -> Scorer:
    """Add up what the model's calls hold; what it says beside them is the answer."""

    async def score(state: TaskState, target: Target) -> Score:
        calls = state.output.message.tool_calls or []
        total = sum(
            sum(one.arguments.values())
            for one in calls
            if one.function == "add" and not one.parse_error
        )
        return Score(
            value=str(total) == target.text,
            answer=state.output.completion,
            metadata={"calls": len(calls)},
        )

    return score


@scorer(metrics=[accuracy()])
def was_run() -> Scorer:
    """Read the last message, which is the result of the tool that the model called."""

    async def score(state: TaskState, target: Target) -> Score:
        last = state.messages[-1]
        return Score(
            value=last.role == "tool" and last.text == target.text,
            answer=f"{last.role}: {last.text}",
        )

    return score


@scorer(metrics=[accuracy()])
def submitted() -> Scorer:
    """Have a grader hand in its grade by a tool."""

    def submit(grade: str, why: str = "") -> None:
        """Submit the grade."""

    params = ToolParams(
        properties={"grade": ToolParam(type="string"), "why": ToolParam(type="string")},
        required=["grade"],
    )
    offer = ToolDef(tool=submit, name="submit", description="Submit the grade.", parameters=params)

    async def score(state: TaskState, target: Target) -> Score:
        asked = f"{state.input_text}\n{state.output.completion}\n{target.text}"
        config = GenerateConfig(parallel_tool_calls=False)
        choice = ToolFunction(name="submit")
        result = await get_model(role="grader").generate(
            asked, tools=[offer], tool_choice=choice, config=config
        )
        calls = result.message.tool_calls
        if not calls:
            return Score.unscored(
                explanation=f"no call: {result.completion}", reason="grader_no_tool_call"
            )
        return Score(value=calls[0].arguments["grade"], explanation=calls[0].arguments.get("why"))

    return score


@scorer(metrics=[accuracy()])
def looked_up() -> Scorer:
    """Have a grader ask a tool before it says its grade."""

    async def score(state: TaskState, target: Target) -> Score:
        asked = f"Is {state.output.completion} the answer to {state.input_text}? Say yes or no."
        _, output = await get_model(role="grader").generate_loop(asked, tools=[add()])
        return Score(value=output.completion)

    return score


@solver
def with_an_example() -> Solver:
    """Show the model a call of a tool and its result first."""

    async def solve(state: TaskState, _: Generate) -> TaskState:
        call = ToolCall(id="c1", function="add", arguments={"x": 1, "y": 1})
        state.messages = [
            ChatMessageUser(content="What is 1 plus 1?"),
            ChatMessageAssistant(content="", tool_calls=[call]),
            ChatMessageTool(content="2", tool_call_id="c1", function="add"),
            ChatMessageAssistant(content="It is 2."),
            *state.messages,
        ]
        return state

    return solve


_SOLVERS = {
    "none": lambda: [use_tools(add(), say()), generate(tool_calls="none")],
    "single": lambda: [use_tools(add()), generate(tool_calls="single")],
    "forced": lambda: [
        use_tools(add(), say(), tool_choice=ToolFunction(name="add")),
        generate(tool_calls="none"),
    ],
    "any": lambda: [
        use_tools(add(), tool_choice="any"),
        generate(tool_calls="none", parallel_tool_calls=False),
    ],
    "unwanted": lambda: [use_tools(add(), tool_choice="none"), generate()],
    "example": lambda: [with_an_example(), use_tools(add()), generate(tool_calls="none")],
}


@task
def offering(kind: str) -> Task:
    """Offer the model tools for its one answer."""
    scorers = {"single": was_run, "unwanted": match}
    return Task(dataset=list(SUMS), solver=_SOLVERS[kind](), scorer=scorers.get(kind, called)())


@task
def graded(kind: str) -> Task:
    """Offer a grader tools."""
    return Task(dataset=list(SUMS), scorer={"submitted": submitted, "looked_up": looked_up}[kind]())
