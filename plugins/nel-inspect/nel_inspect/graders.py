"""Who grades when a task's scorer calls a model, and how that call becomes a case for the run's
judges.

Every `Model.generate` of a scorer comes here (`nel_inspect.hooks`). Inspect's own graders make
their prompt and leave the verdict to `nel_inspect.grading`; any other scorer gets the reply and
reads it itself. Who is asked is said by names that the run knows; Inspect's ``provider/model`` is
one of them only if a judge or a role is called so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

from nel.core.strict_json import loads
from nel.errors import JudgeError, NelError
from nel.judges.types import Case, Judgement, only_reply
from nel.types import Message, ToolCall
from nel_inspect.grading import (
    FOREIGN,
    GRADE,
    GRADES,
    MESSAGES,
    PATTERN,
    REPLY,
    SETTINGS,
    TOOL_CHOICE,
    TOOLS,
    score_of,
)
from nel_inspect.settings import by_our_names
from nel_inspect.tools import Offer
from nel_inspect.turns import message_of, turn_of
from nel_inspect.watching import Graders, Want, Watch

_UNSENDABLE: Final = re.compile("[\ud800-\udfff]")


class TriedOutError(NelError):
    """A scorer that is only tried out has called a grader."""


@dataclass(slots=True)
class Grading:
    """One call of a grader by a scorer of Inspect's own, while it is made."""

    pattern: str | None
    """The author's, None for Inspect's."""
    grades: str
    """Letters that Inspect's pattern may find."""
    models: Sequence[Any] = ()
    """Of a panel, all its models; empty where the scorer has one."""
    foreign: tuple[str, ...] = ()
    """What of the prompt others wrote, as it shows it."""
    judgement: Judgement | None = None


GRADING: ContextVar[Grading | None] = ContextVar("nel_inspect_grading", default=None)


async def reply_of(
    model: Any, prompt: Any, offer: Offer, config: Any, watch: Watch
) -> tuple[str, tuple[ToolCall, ...]]:
    """Return what the run's judges reply to a call of ``Model.generate``: text, and calls of the
    tools on offer.

    Raises:
        JudgeError: There is no reply that can be used.
        Refused: The call holds what nel cannot send.
        TriedOutError: There is no model to call yet.
    """
    merged_config = model.config if config is None else model.config.merge(config)
    inspect_settings = merged_config.model_dump(exclude_none=True)
    instruction = inspect_settings.pop("system_message", None)
    schema = inspect_settings.pop("response_schema", None)
    settings, unsendable = by_our_names(inspect_settings, has_tools=bool(offer.tools))
    if unsendable:
        raise watch.refuse(f"sets {', '.join(unsendable)} for its grader")
    if schema is not None:
        form = {**schema, "schema": schema["json_schema"]}
        del form["json_schema"]
        extra = {"response_format": {"type": "json_schema", "json_schema": form}}
        settings["extra"] = {**settings.get("extra", {}), **extra}
    turns = [] if instruction is None else [{"role": "system", "content": instruction}]
    if isinstance(prompt, str):
        turns.append({"role": "user", "content": prompt})
    else:
        turns += [turn_of(message, watch) for message in prompt]
    values = {MESSAGES: tuple(_message(turn) for turn in turns), SETTINGS: settings}
    if offer.tools:
        values |= {TOOLS: offer.tools, TOOL_CHOICE: offer.choice}
    reply = await _ask_judges(model, values, watch)
    if not offer.tools:
        return reply, ()
    content = loads(reply)
    return content["content"], tuple(ToolCall(**turn) for turn in content["tool_calls"])


async def _ask_judges(model: Any, values: dict[str, Any], watch: Watch) -> str:
    grading, graders = GRADING.get(), watch.graders or Graders()
    models = (grading.models if grading is not None else ()) or [model]
    judges = tuple(
        dict.fromkeys(name for item in models for name in graders.judges_of(item, watch))
    )
    watch.wants.append(Want(judges=judges, is_free=grading is None))
    if watch.judge is None:
        raise TriedOutError("no grader is asked yet")
    if grading is not None:
        values |= {PATTERN: grading.pattern, GRADES: grading.grades, FOREIGN: grading.foreign}
    case = Case(
        response=watch.answer or " ",
        template=REPLY if grading is None else GRADE,
        judges=judges,
        values=values,
        aggregate="majority" if len(models) > 1 else None,
    )
    judgement = await watch.judge(case)
    if grading is None:
        reply = only_reply(judgement)
        watch.reply = "\n\n".join(str(item.content) for item in values[MESSAGES]), reply
        return reply
    grading.judgement = judgement
    return next((item.reply for item in judgement.opinions if item.grade is not None), "")


def grade_in(grading: Grading) -> Any:
    """Return the value of Inspect's Score that a judgement is.

    Raises:
        JudgeError: ``tie``: Inspect's majority is more than half of the graders, and no grade has
            it.
    """
    judgement = grading.judgement
    if judgement is None:
        raise JudgeError("the grader was not asked", kind="no_verdict")
    label = judgement.grade.label
    labels = [
        "none" if opinion.grade is None else opinion.grade.label for opinion in judgement.opinions
    ]
    if len(grading.models) > 1 and labels.count(label) * 2 <= len(labels):
        raise JudgeError(
            f"no grade has more than half of the graders ({', '.join(labels)})", kind="tie"
        )
    return label if score_of(label) == judgement.grade.score else judgement.grade.score


def _message(turn: Mapping[str, Any]) -> Message:
    message = message_of(turn)
    if not isinstance(message.content, str):
        return message
    return replace(
        message, content=_UNSENDABLE.sub("\ufffd", message.content).replace("\0", "\u2400")
    )
