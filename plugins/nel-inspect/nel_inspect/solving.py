"""A task's solvers and scorers run on one sample, with nel's answer in the place of a model's.

The solvers run twice: once to see what they ask, once when the answer is there, so that whatever
they do with it is theirs. Only scorers may call models, and those calls are the run's judges'
(`nel_inspect.graders`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias

from nel.judges.types import Case, Judgement
from nel.types import JsonObject, ToolCall
from nel_inspect.running import SECONDS_MAX, apart, enter
from nel_inspect.tools import offer_of, output_of
from nel_inspect.turns import turn_of
from nel_inspect.watching import MODEL, WATCH, Graders, Refusal, TaskRequest, Want, Watch

_LOG = logging.getLogger(__name__)
Sent: TypeAlias = tuple[list[dict[str, Any]], list[JsonObject]]
"""The messages of a request and the tools that it offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedScore:
    """What one scorer gave an answer."""

    name: str
    score: Any
    """Inspect's Score, or None."""
    reply: tuple[str, str] | None
    """The last prompt and reply of a grader, where the scorer reads its replies itself and has
    asked.
    """


def ask(task: Any, sample: Any) -> TaskRequest:
    """Return what a task's solvers ask of the model for a sample of its dataset, which they do not
    change.

    Raises:
        Refused: They ask twice or not at all, run tools and ask again, call a model themselves, or
            send what is neither text nor an image.
        Exception: Whatever a solver raises before it asks.
    """
    watch = Watch(answer="")

    async def run() -> None:
        WATCH.set(watch)
        await _solve(task, deepcopy(sample), watch)

    try:
        apart(lambda: asyncio.run(run()), seconds_max=SECONDS_MAX)
    except Exception:
        watch.check()
        if watch.request is None:  # what follows the answer may well fail on an empty one
            raise
    watch.check()
    if watch.request is None:
        raise Refusal("never asks the model")
    return watch.request


def wants_of(task: Any, sample: Any, answer: str, graders: Graders) -> list[Want]:
    """Return which graders a task's scorers ask about an answer; none is asked.

    Raises:
        Refused: Solvers call a model, or scorers call one that is not configured.
        PrerequisiteError: Of Inspect: a required role has no model.
    """
    from inspect_ai._util.error import PrerequisiteError  # noqa: PLC0415 - heavy

    watch = Watch(answer=answer, graders=graders)

    async def run() -> None:
        enter(graders.models())
        WATCH.set(watch)
        original = deepcopy(sample)
        state = await _solve(task, original, watch)
        watch.is_scoring = True
        for scorer in task.scorer:
            try:
                await scorer(state, _target(original))
            except PrerequisiteError:
                raise
            except Exception:  # noqa: BLE001 - it is not scored here, and no grader answers
                _LOG.debug("a scorer failed while its questions were collected", exc_info=True)

    try:
        apart(lambda: asyncio.run(run()), seconds_max=SECONDS_MAX)
    finally:
        watch.check()
    return watch.wants


async def score(
    task: Any,
    sample: Any,
    answer: str,
    *,
    calls: Sequence[ToolCall] = (),
    request: Sent | None,
    graders: Graders,
    judge: Callable[[Case], Awaitable[Judgement]] | None,
) -> list[NamedScore]:
    """Return what each scorer gives a model's answer; run it in an asyncio task of its own.

    Args:
        task: Inspect's Task.
        sample: One of its dataset, with every object that the task put there; it is not changed.
        answer: The model's text.
        calls: The calls of tools in the answer.
        request: What was sent; the solvers must come to the same again.
        graders: Who may be asked.
        judge: Puts a case to the run's judges.

    Raises:
        Refused: The solvers come to other messages or ask again, or what solvers or scorers ask
            cannot be asked.
        JudgeError: A grader gave no reply that can be used.
        Exception: Whatever a solver or scorer raises.
    """
    watch = Watch(answer=answer, calls=tuple(calls), graders=graders, judge=judge)
    enter(graders.models())
    WATCH.set(watch)
    try:
        original = deepcopy(sample)
        state = await _solve(task, original, watch)
        shape = None if watch.request is None else watch.request.sent
        if request is not None and shape not in (None, request):
            raise watch.refuse(
                "shapes another prompt than the one that was sent; its solvers draw at random"
            )
        watch.is_scoring = True
        scores = []
        for name, scorer in zip(scorer_names(task), task.scorer, strict=True):
            watch.reply = None
            inspect_score = await scorer(state, _target(original))
            scores.append(NamedScore(name=name, score=inspect_score, reply=watch.reply))
    finally:
        watch.check()
    return scores


def scorer_names(task: Any) -> list[str]:
    """Return the names of a task's scorers, each once, as Inspect shows them."""
    from inspect_ai.scorer._scorer import unique_scorer_name  # noqa: PLC0415 - heavy

    names: list[str] = []
    for scorer in task.scorer:
        names.append(unique_scorer_name(scorer, names))
    return names


def _target(sample: Any) -> Any:
    from inspect_ai.scorer import Target  # noqa: PLC0415 - heavy

    return Target(sample.target)


async def _solve(task: Any, sample: Any, watch: Watch) -> Any:
    """Return the state of a sample after all solvers, the watch's answer being the model's."""
    from inspect_ai.log._transcript import Transcript, init_transcript  # noqa: PLC0415 - heavy
    from inspect_ai.model import ChatMessageUser, ModelName  # noqa: PLC0415 - heavy
    from inspect_ai.scorer import Target  # noqa: PLC0415 - heavy
    from inspect_ai.solver import TaskState  # noqa: PLC0415 - heavy
    from inspect_ai.solver._task_state import set_sample_state  # noqa: PLC0415 - heavy
    from inspect_ai.util._store import init_subtask_store  # noqa: PLC0415 - heavy

    if isinstance(sample.input, str):
        messages = [ChatMessageUser(content=sample.input, source="input")]
    else:
        messages = list(sample.input)
    state = TaskState(
        model=ModelName(MODEL),
        sample_id="sample" if sample.id is None else sample.id,
        epoch=1,
        input=sample.input,
        messages=messages,
        target=Target(sample.target),
        choices=sample.choices,
        metadata=sample.metadata or {},
    )
    init_transcript(Transcript())
    init_subtask_store(state.store)
    set_sample_state(state)
    return await plan_of(task)(state, _generate_for(task, watch))


def plan_of(task: Any) -> Any:
    """Return a task's solvers as Inspect lines them up: set-up first, then the solvers, then what
    finishes.
    """
    from inspect_ai.solver._chain import unroll  # noqa: PLC0415 - heavy
    from inspect_ai.solver._plan import Plan  # noqa: PLC0415 - heavy

    solver = task.solver
    setup = unroll(task.setup) if task.setup else []
    if isinstance(solver, Plan):
        return Plan(
            [*setup, *solver.steps], finish=solver.finish, cleanup=solver.cleanup, internal=True
        )
    return Plan([*setup, *unroll(solver)], internal=True)


def _generate_for(task: Any, watch: Watch) -> Callable[..., Any]:
    async def generate(state: Any, tool_calls: str = "loop", **settings: Any) -> Any:
        from inspect_ai.model import GenerateConfig, execute_tools  # noqa: PLC0415 - heavy

        if watch.request is not None:
            raise watch.refuse("asks the model more than once for a sample")
        offer = await offer_of(state.tools, state.tool_choice, watch)
        if offer.tools and tool_calls == "loop":
            raise watch.refuse(
                'runs the tools that the model calls and asks it again (tool_calls="loop")'
            )
        config = task.config.merge(GenerateConfig(**settings))
        all_settings = config.model_dump(exclude_none=True)
        instruction = all_settings.pop("system_message", None)
        lead = [] if instruction is None else [{"role": "system", "content": instruction}]
        messages = (*lead, *(turn_of(turn, watch) for turn in state.messages))
        watch.request = TaskRequest(
            messages=messages, settings=all_settings, tools=offer.tools, tool_choice=offer.choice
        )
        state.output = output_of(MODEL, watch.answer, watch.calls, offer)
        state.messages.append(state.output.message)
        if tool_calls == "single" and state.output.message.tool_calls:
            results, output = await execute_tools(
                state.messages, state.tools, config.max_tool_output
            )
            state.messages.extend(results)
            if output is not None:
                state.output = output
        return state

    return generate
