"""What is known of a task's code while it runs here, and what it is told of models.

Inspect's code may call a model of its own choice at any time and swallow what that call raises; a
call that was refused is therefore kept too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from nel.errors import NelError
from nel.judges.types import Case, Judgement
from nel.scoring.model_graded import GRADER
from nel.types import JsonObject, ToolCall
from nel_inspect.stand_ins import stand_in

MODEL: Final = "mockllm/model"
"""What the task's code sees of the model: no endpoint, since a prompt must not depend on one."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Graders:
    """The models that a task's scorers may call in a run; the evaluated model itself where there is
    none.
    """

    panel: Mapping[str, str] = field(default_factory=dict)
    """The run's judges: name to model."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """The run's further models: role to model."""
    task_roles: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The task's own ``model_roles``: role to a model of Inspect's or a list of them; the run's go
    before.
    """

    def models(self) -> dict[str, Any]:
        """Return a model for each role that somebody has, as Inspect's ``get_model(role=…)`` finds
        it.
        """
        roles = list(self.roles)
        if self.panel and GRADER not in roles:
            roles.append(GRADER)
        return {**self.task_roles, **{role: stand_in("nel", role, judge=role) for role in roles}}

    def judges_of(self, model: Any, watch: Watch) -> tuple[str, ...]:
        """Return by which name a run knows whom a model of Inspect stands for.

        Raises:
            Refused: No role has this name.
        """
        role = getattr(model.api, "nel_judge", None)
        if role is not None:
            return (role,)
        full_name = str(model)
        if full_name == MODEL:
            return (GRADER,)
        model_name = full_name.partition("/")[2]
        for name in (full_name, model_name):
            if name in {*self.roles, *self.panel, *self.panel.values()}:
                return (name,)
        raise watch.refuse(
            f"has {full_name} grade, and no judge of the run is called so; give --judge-url and"
            f" --judge-id {model_name}, or have another play it: judge: {{name:"
            f" {full_name}, url: …, model: …}}"
        )


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
