"""What is known of a task's code while it runs here, and what it is told of models.

Inspect's code may call a model of its own choice at any time and swallow what that call raises; a
call that was refused is therefore kept too.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from nel.core.strict_json import dumps
from nel.errors import NelError
from nel.judges.types import Case, Judgement
from nel.types import JsonObject, Message, ToolCall

if TYPE_CHECKING:
    from nel_inspect.graders import Graders

MODEL: Final = "mockllm/model"
"""What the task's code sees of the model: no endpoint, since a prompt must not depend on one."""
SECONDS_MAX: Final = 60.0
"""So long may solvers take to ask for one sample, and scorers to be tried out."""
_IMAGES: Final = ("data:", "http://", "https://")
T = TypeVar("T")


class Refusal(NelError):
    """The task does what nel cannot do for it; says what, beginning with a verb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """What a task's solvers ask of the model for one sample."""

    messages: tuple[dict[str, Any], ...]
    """Each with ``role`` and ``content``, in the OpenAI shape."""
    settings: Mapping[str, Any]
    """Those of Inspect's generation settings that are set, by Inspect's names."""
    tools: tuple[JsonObject, ...] = ()
    """The tools that the model may call, in the OpenAI shape."""
    tool_choice: Any = None

    @property
    def sent(self) -> tuple[list[dict[str, Any]], list[JsonObject]]:
        """Return what the endpoint gets of it beside settings: messages and tools."""
        return list(self.messages), list(self.tools)


@dataclass(frozen=True, slots=True)
class Want:
    """A call of a grader that a scorer has tried to make."""

    judges: tuple[str, ...]
    """Names as a `Case` has them."""
    is_free: bool
    """Whether the scorer reads the reply itself."""


@dataclass(slots=True)
class Watch:
    """What happened while a task's code ran."""

    answer: str
    calls: tuple[ToolCall, ...] = ()
    """The calls of tools in the answer."""
    graders: Graders | None = None
    """Whom scorers may ask; None while it is the solvers' turn alone."""
    judge: Callable[[Case], Awaitable[Judgement]] | None = None
    """Puts a case to the run's judges; None while scorers are only tried out."""
    is_scoring: bool = False
    """Whether it is the scorers' turn, who may ask graders."""
    request: TaskRequest | None = None
    """What the solvers have asked."""
    wants: list[Want] = field(default_factory=list)
    reply: tuple[str, str] | None = None
    """The last prompt and reply of a grader whose replies the scorer reads itself."""
    refusals: list[str] = field(default_factory=list)

    def refuse(self, reason: str) -> Refusal:
        """Return the error to raise, and remember it."""
        self.refusals.append(reason)
        return Refusal(reason)

    def check(self) -> None:
        """Raise what was refused first, even where the code swallowed it."""
        if self.refusals:
            raise Refusal(self.refusals[0])


WATCH: ContextVar[Watch | None] = ContextVar("nel_inspect_watch", default=None)
INSIDE: ContextVar[bool] = ContextVar("nel_inspect_inside", default=False)
"""Whether a task's code runs for nel: made, asked or scored."""


def apart(work: Callable[[], T], *, seconds_max: float | None = None) -> T:
    """Return what some work returns, done in a thread of its own: Inspect's context and loop stay
    away from nel's.

    Raises:
        TimeoutError: It takes longer; its thread is left behind.
        BaseException: Whatever the work raises.
    """
    results: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            enter()
            results.append(work())
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


def enter(roles: Mapping[str, Any] | None = None) -> None:
    """Prepare Inspect's context of this thread or task, and `Model.generate`, for a task's code.

    Args:
        roles: Models by their roles; none while there are no graders to ask.
    """
    from inspect_ai.model import GenerateConfig  # noqa: PLC0415 - heavy
    from inspect_ai.model._model import init_active_model, init_model_roles  # noqa: PLC0415 - heavy

    from nel_inspect.hooks import install  # noqa: PLC0415 - needs Inspect

    install()
    INSIDE.set(True)
    init_active_model(_evaluated_model(), GenerateConfig())
    init_model_roles(dict(roles or {}))


@lru_cache(maxsize=1)
def _evaluated_model() -> Any:
    """Return what stands for the evaluated model; it is never asked."""
    from inspect_ai.model import get_model  # noqa: PLC0415 - heavy

    return get_model(MODEL)


def turn_of(message: Any, watch: Watch) -> dict[str, Any]:
    """Return one of Inspect's messages with the fields of nel's `Message`, as JSON has them.

    Raises:
        Refused: It holds what is neither text nor an image.
    """
    content = message.content
    if not isinstance(content, str):
        content = [_block(item, watch) for item in content]
    turn = {"role": message.role, "content": content}
    if message.role == "tool":
        content_text = message.text if message.error is None else f"Error: {message.error.message}"
        return {**turn, "content": content_text, "tool_call_id": message.tool_call_id or ""}
    calls = getattr(message, "tool_calls", None) or []
    if calls:
        turn["tool_calls"] = [
            {"id": item.id, "name": item.function, "arguments": dumps(item.arguments)}
            for item in calls
        ]
    return turn


def message_of(turn: Mapping[str, Any]) -> Message:
    """Return what `turn_of` describes as a message of nel's."""
    content = turn["content"]
    return Message(
        role=turn["role"],
        content=content if isinstance(content, str) else tuple(content),
        tool_calls=tuple(ToolCall(**call) for call in turn.get("tool_calls", ())),
        tool_call_id=turn.get("tool_call_id"),
    )


def as_turn(message: Message) -> dict[str, Any]:
    """Return a message of nel's as `turn_of` describes it."""
    content = message.content
    turn: dict[str, Any] = {
        "role": message.role,
        "content": content if isinstance(content, str) else [dict(item) for item in content],
    }
    if message.tool_calls:
        turn["tool_calls"] = [asdict(item) for item in message.tool_calls]
    return turn if message.tool_call_id is None else {**turn, "tool_call_id": message.tool_call_id}


def _block(block: Any, watch: Watch) -> dict[str, Any]:
    if block.type == "text":
        return {"type": "text", "text": block.text}
    if block.type == "image" and block.image.startswith(_IMAGES):
        return {"type": "image_url", "image_url": {"url": block.image, "detail": block.detail}}
    if block.type == "image":
        raise watch.refuse(
            "shows the model an image by its file's name, which this bridge does not send"
        )
    raise watch.refuse(
        f"shows the model content of the kind {block.type}, which this bridge does not send"
    )
