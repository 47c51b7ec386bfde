"""A task's solvers and scorers run on one sample, with nel's answer in the place of a model's.

The solvers run twice: once to see what they ask, once when the answer is there, so that whatever they do with it is
theirs. Trap: Inspect's code may call a model of its own choice at any time; while it runs here, `Model.generate` sends
nothing, and a call that was tried is known even where the code swallowed the exception.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, TypeVar

from nel.errors import NelError

MODEL: Final = "mockllm/model"
"""What the task's code is told of the model: it knows no endpoint, and a prompt must not depend on one."""
SECONDS_MAX: Final = 60.0
"""So long may solvers take to ask for one sample, and scorers to be tried out."""
_IMAGES: Final = ("data:", "http://", "https://")
T = TypeVar("T")


class Refused(NelError):
    """The task does what nel cannot do for it; says what, beginning with a verb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a task's solvers ask of the model for one sample."""

    messages: tuple[dict[str, Any], ...]
    """Each with ``role`` and ``content``, in the OpenAI shape."""
    settings: Mapping[str, Any]
    """Those of Inspect's generation settings that are set, by Inspect's names."""


@dataclass(slots=True)
class _Watch:
    """What happened while a task's code ran."""

    answer: str
    asked: Asked | None = None
    refusals: list[str] = field(default_factory=list)

    def refuse(self, reason: str) -> Refused:
        self.refusals.append(reason)
        return Refused(reason)

    def check(self) -> None:
        if self.refusals:
            raise Refused(self.refusals[0])


_WATCH: ContextVar[_Watch | None] = ContextVar("nel_inspect_watch", default=None)


def ask(task: Any, sample: Mapping[str, Any]) -> Asked:
    """Return what a task's solvers ask of the model for a sample, as `dumped` gives it.

    Raises:
        Refused: They ask twice or not at all, hold tools, call a model themselves, or send what is neither text nor an
            image.
        Exception: Whatever a solver raises before it asks.
    """
    watch = _Watch(answer="")

    async def run() -> None:
        _WATCH.set(watch)
        await _solve(task, _sample(sample), watch)

    try:
        apart(lambda: asyncio.run(run()), seconds_max=SECONDS_MAX)
    except Exception:
        watch.check()
        if watch.asked is None:  # what follows the answer may well fail on an empty one
            raise
    watch.check()
    if watch.asked is None:
        raise Refused("never asks the model")
    return watch.asked


def score(
    task: Any,
    sample: Mapping[str, Any],
    answer: str,
    *,
    expected: Sequence[Mapping[str, Any]] | None,
    seconds_max: float | None = None,
) -> list[tuple[str, Any]]:
    """Return each scorer's name with the Score, or None, that it gives a model's answer.

    Args:
        expected: The messages that were sent; the solvers must come to the same ones again.
        seconds_max: None inside a run, where nel bounds the time of a scorer.

    Raises:
        Refused: The solvers come to other messages or ask again, or solvers or scorers call a model.
        Exception: Whatever a solver or scorer raises.
    """
    watch = _Watch(answer=answer)

    async def run() -> list[tuple[str, Any]]:
        from inspect_ai.scorer import Target  # noqa: PLC0415 - heavy, and only where a task is run

        _WATCH.set(watch)
        original = _sample(sample)
        state = await _solve(task, original, watch)
        if expected is not None and watch.asked is not None and list(watch.asked.messages) != list(expected):
            raise watch.refuse("shapes another prompt than the one that was sent; its solvers draw at random")
        names = scorer_names(task)
        return [
            (name, await scorer(state, Target(original.target)))
            for name, scorer in zip(names, task.scorer, strict=True)
        ]

    try:
        found = apart(lambda: asyncio.run(run()), seconds_max=seconds_max)
    finally:
        watch.check()
    return found


def scorer_names(task: Any) -> list[str]:
    """Return the names of a task's scorers, each once, as Inspect shows them."""
    from inspect_ai.scorer._scorer import unique_scorer_name  # noqa: PLC0415 - heavy

    names: list[str] = []
    for scorer in task.scorer:
        names.append(unique_scorer_name(scorer, names))
    return names


def dumped(sample: Any) -> dict[str, Any]:
    """Return a Sample of Inspect as JSON has it, without the random ids that Inspect gives messages.

    Raises:
        ValueError: It holds what JSON does not have.
    """
    found: dict[str, Any] = sample.model_dump(mode="json", exclude_none=True)
    if isinstance(found["input"], list):
        found["input"] = [{key: value for key, value in one.items() if key != "id"} for one in found["input"]]
    return found


def apart(work: Callable[[], T], *, seconds_max: float | None = None) -> T:
    """Return what some work returns, done in a thread of its own: Inspect's context and loop stay away from nel's.

    Raises:
        TimeoutError: It takes longer; its thread is left behind.
        BaseException: Whatever the work raises.
    """
    _guard()
    results: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            results.append(_as_in_a_task(work))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, not handled
            faults.append(error)

    thread = threading.Thread(target=run, name="inspect", daemon=True)
    thread.start()
    thread.join(seconds_max)
    if thread.is_alive():
        raise TimeoutError(f"not done after {seconds_max} seconds")
    if faults:
        raise faults[0]
    return results[0]


def _as_in_a_task(work: Callable[[], T]) -> T:
    from inspect_ai.model import GenerateConfig, get_model  # noqa: PLC0415 - heavy
    from inspect_ai.model._model import init_active_model, init_model_roles  # noqa: PLC0415 - heavy

    init_active_model(get_model(MODEL), GenerateConfig())
    init_model_roles({})
    return work()


def _guard() -> None:
    """Make `Model.generate` send nothing while a task's code runs here; it is as it was everywhere else."""
    from inspect_ai.model import Model  # noqa: PLC0415 - heavy

    original = Model.generate
    if hasattr(original, "guarded_by_nel"):
        return

    @wraps(original)
    async def generate(self: Any, *args: Any, **more: Any) -> Any:
        watch = _WATCH.get()
        if watch is not None:
            raise watch.refuse("calls a model itself, as agents, critics and model-graded scorers do")
        return await original(self, *args, **more)

    generate.guarded_by_nel = True  # type: ignore[attr-defined]
    Model.generate = generate


def _sample(described: Mapping[str, Any]) -> Any:
    from inspect_ai.dataset import Sample  # noqa: PLC0415 - heavy

    return Sample(**deepcopy(dict(described)))


async def _solve(task: Any, sample: Any, watch: _Watch) -> Any:
    """Return the state of a sample after all solvers, the watch's answer being the model's."""
    from inspect_ai.log._transcript import Transcript, init_transcript  # noqa: PLC0415 - heavy
    from inspect_ai.model import ChatMessageUser, ModelName  # noqa: PLC0415 - heavy
    from inspect_ai.scorer import Target  # noqa: PLC0415 - heavy
    from inspect_ai.solver import TaskState  # noqa: PLC0415 - heavy
    from inspect_ai.solver._task_state import set_sample_state  # noqa: PLC0415 - heavy
    from inspect_ai.util._store import init_subtask_store  # noqa: PLC0415 - heavy

    text = sample.input
    state = TaskState(
        model=ModelName(MODEL),
        sample_id=sample.id if sample.id is not None else "sample",
        epoch=1,
        input=text,
        messages=[ChatMessageUser(content=text, source="input")] if isinstance(text, str) else list(text),
        target=Target(sample.target),
        choices=sample.choices,
        metadata=sample.metadata or {},
    )
    init_transcript(Transcript())
    init_subtask_store(state.store)
    set_sample_state(state)
    return await plan_of(task)(state, _generate_for(task, watch))


def plan_of(task: Any) -> Any:
    """Return a task's solvers as Inspect lines them up: set-up first, then the solvers, then what finishes."""
    from inspect_ai.solver._chain import unroll  # noqa: PLC0415 - heavy
    from inspect_ai.solver._plan import Plan  # noqa: PLC0415 - heavy

    given = task.solver
    setup = unroll(task.setup) if task.setup else []
    if isinstance(given, Plan):
        return Plan([*setup, *given.steps], finish=given.finish, cleanup=given.cleanup, internal=True)
    return Plan([*setup, *unroll(given)], internal=True)


def _generate_for(task: Any, watch: _Watch) -> Callable[..., Any]:
    async def generate(state: Any, tool_calls: str = "loop", **settings: Any) -> Any:
        from inspect_ai.model import GenerateConfig, ModelOutput  # noqa: PLC0415 - heavy

        if watch.asked is not None:
            raise watch.refuse("asks the model more than once for a sample")
        if state.tools:
            raise watch.refuse("gives the model tools")
        chosen = task.config.merge(GenerateConfig(**settings)).model_dump(exclude_none=True)
        instruction = chosen.pop("system_message", None)
        first = [] if instruction is None else [{"role": "system", "content": instruction}]
        watch.asked = Asked(messages=(*first, *(_turn(one, watch) for one in state.messages)), settings=chosen)
        state.output = ModelOutput.from_content(MODEL, watch.answer)
        state.messages.append(state.output.message)
        return state

    return generate


def _turn(message: Any, watch: _Watch) -> dict[str, Any]:
    if message.role == "tool" or getattr(message, "tool_calls", None):
        raise watch.refuse("shows the model calls of tools")
    content = message.content
    if not isinstance(content, str):
        content = [_part(one, watch) for one in content]
    return {"role": message.role, "content": content}


def _part(part: Any, watch: _Watch) -> dict[str, Any]:
    if part.type == "text":
        return {"type": "text", "text": part.text}
    if part.type == "image" and part.image.startswith(_IMAGES):
        return {"type": "image_url", "image_url": {"url": part.image, "detail": part.detail}}
    what = "an image by its file's name" if part.type == "image" else f"content of the kind {part.type}"
    raise watch.refuse(f"shows the model {what}, which this bridge does not send")
