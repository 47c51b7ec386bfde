"""Turns a judge's replies into grades: makes questions, reads replies, words retries and faults.

Sends nothing.

Depends on `PluginThreads` for plugin code and for long texts. Whatever a judge's plugin raises is a
fault of that judge, for this case alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, TypeVar

from nel.core.finish_reasons import ending_of
from nel.core.strict_json import dumps
from nel.engine.judging.plugin_threads import PLUGIN_TIMEOUT, PluginThreads
from nel.errors import JudgeError
from nel.judges.types import (
    Case,
    Grade,
    Judge,
    Opinion,
    Question,
    require_grade,
    require_questions,
)
from nel.types import Message, Response

_Answer = TypeVar("_Answer")
_INLINE_CHARACTERS_MAX: Final = 20_000
"""A longer text is processed in a thread instead of on the event loop."""
_INLINE_QUESTIONS_MAX: Final = 10
"""Questions about more criteria are made in a thread; 500 take 70 milliseconds and more."""
_PLUGIN_FAULT_KINDS: Final = frozenset({PLUGIN_TIMEOUT, "raised"})
_BUILTIN_PREFIX: Final = "nel.judges."
_MODULES_CALLING_PLUGINS: Final = frozenset(
    {"nel.judges.custom_templates", "nel.judges.pair_templates", "nel.judges.reply_formats"}
)
"""Modules of nel that run code of users: templates, which may loop, and any other judge."""


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """The reply to one question, with its grade or its fault."""

    text: str
    grade: Grade | JudgeError
    reasked: int

    @property
    def label(self) -> str:
        """Return the grade's label, or the kind of the fault."""
        return self.grade.label if isinstance(self.grade, Grade) else self.grade.kind


REASKED_KINDS: Final = frozenset(
    {"no_verdict", "two_verdicts", "out_of_range", "truncated", "empty", "refused"}
)
"""Faults after which the same question is asked again."""


async def make_questions(judge: Judge, case: Case, threads: PluginThreads) -> Sequence[Question]:
    """Return what a judge asks about a case.

    Raises:
        JudgeError: It fails, takes too long or asks nothing.
    """
    try:
        if _is_quick(judge.ask, case):
            questions = judge.ask(case)
        else:
            # a list, since a generator would run later, on the event loop
            questions = await threads.call(f"{judge.name}: asking", lambda: list(judge.ask(case)))
    except JudgeError:
        raise
    except Exception as error:
        raise JudgeError(
            f"{judge.name} failed to ask: {type(error).__name__}: {error}", kind="raised"
        ) from error
    return require_questions(questions, judge.name)


async def settle_round(
    judge: Judge, case: Case, replies: Sequence[JudgeReply], threads: PluginThreads
) -> Grade | JudgeError:
    """Return the grade of one round of questions, or the fault that takes its place."""
    grades: list[Grade] = []
    for reply in replies:
        if isinstance(reply.grade, JudgeError):
            return reply.grade
        grades.append(reply.grade)
    if judge.settle is None:
        return grades[0]
    try:
        if _is_quick(judge.settle, case):
            return judge.settle(case, grades)
        settled = await threads.call(f"{judge.name}: settling", judge.settle, case, grades)
        return require_grade(settled, f"settle of {judge.name}")
    except JudgeError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a fault of the plugin is one of the judge, for this case alone
        return JudgeError(
            f"{judge.name} failed to settle: {type(error).__name__}: {error}", kind="raised"
        )


def _is_quick(function: Callable[..., object], case: Case) -> bool:
    """Return whether a judge's function takes about a millisecond on a case: it is nel's own, and
    the case is short.
    """
    unwrapped = inspect.unwrap(getattr(function, "func", function))
    module = getattr(unwrapped, "__module__", None) or ""
    if not module.startswith(_BUILTIN_PREFIX) or module in _MODULES_CALLING_PLUGINS:
        return False
    longest = max(
        (len(value) for value in case.values.values() if isinstance(value, (list, tuple))),
        default=0,
    )
    n_characters = len(case.response) + len(case.question)
    return longest <= _INLINE_QUESTIONS_MAX and n_characters <= _INLINE_CHARACTERS_MAX


def text_of_reply(question: Question, response: Response) -> str:
    """Return a reply's text, or JSON with its text and calls where tools were offered."""
    calls = [asdict(call) for call in response.tool_calls]
    if not question.tools or not (calls or response.text.strip()):
        return response.text
    return dumps({"content": response.text, "tool_calls": calls})


async def read_reply(
    question: Question, response: Response, threads: PluginThreads
) -> Grade | JudgeError:
    """Return the grade of a whole reply, or the fault; a long reply, or one for plugin code, is
    read in a thread.
    """
    try:
        if question.is_quick and len(response.text) <= _INLINE_CHARACTERS_MAX:
            return _grade_of(question, response)
        return await threads.call("reading a reply", _grade_of, question, response)
    except JudgeError as error:
        return error


def _grade_of(question: Question, response: Response) -> Grade:
    """Return the grade of a whole reply.

    Raises:
        JudgeError: The request failed, or the reply is cut off, empty, refused or holds no verdict.
    """
    error = response.error
    if error is not None:
        raise JudgeError(f"the judge did not answer: {error.message}", kind=error.kind)
    text = text_of_reply(question, response)
    ending = ending_of(response.finish_reason)
    read_token = question.read_tokens if response.first_token else None
    if read_token is not None and response.reasoning is not None:
        raise JudgeError(
            "the judge reasoned first, so that its first token is not a grade; turn its"
            " reasoning off",
            kind="reasoned",
            reply=text,
        )
    if ending == "truncated" and question.read_tokens is None:
        raise JudgeError(
            "the judge's reply was cut off by its token limit", kind="truncated", reply=text
        )
    if ending in ("content_filter", "refusal"):
        raise JudgeError("the judge refused", kind="refused", reply=text)
    if read_token is not None:
        return _read(text, read_token, response.first_token)
    if not text.strip() and question.read_tokens is None:
        raise JudgeError("the judge's reply is empty", kind="empty", reply=text)
    return _read(text, question.read, text)


def _read(text: str, read: Callable[[_Answer], Grade], answer: _Answer) -> Grade:
    try:
        return require_grade(read(answer), "the reader")
    except JudgeError as problem:
        raise JudgeError(str(problem), kind=problem.kind, reply=text) from problem
    except Exception as problem:
        raise JudgeError(
            f"the reply could not be read: {type(problem).__name__}: {problem}",
            kind="raised",
            reply=text,
        ) from problem


def reask_messages(messages: Sequence[Message], reply: str, again: str) -> list[Message]:
    """Return the conversation that asks again after an unreadable reply."""
    *before, last = messages
    if not reply.strip() and last.role != "user":
        return [*messages, Message(role="user", content=again)]
    # Some endpoints refuse an empty assistant message: extend the question instead.
    if not reply.strip():
        content = last.content
        longer = (
            f"{content}\n\n{again}"
            if isinstance(content, str)
            else (*content, {"type": "text", "text": again})
        )
        return [*before, replace(last, content=longer)]
    return [
        *messages,
        Message(role="assistant", content=reply),
        Message(role="user", content=again),
    ]


def shown_reply(
    grade: Grade | None, fault: JudgeError | None, replies: Sequence[JudgeReply]
) -> str:
    """Return the last reply; of a fault its reply, or its message if a plugin failed."""
    if grade is None and fault is not None:
        return str(fault) if fault.kind in _PLUGIN_FAULT_KINDS else fault.reply or str(fault)
    return replies[-1].text


def panel_fault(error: JudgeError, opinions: Sequence[Opinion]) -> JudgeError:
    """Return the fault of a panel; of a panel of one judge, that judge's fault and reply."""
    if len(opinions) == 1 and opinions[0].fault is not None:
        opinion = opinions[0]
        quoted = f": {opinion.reply[:200]}" if opinion.reply else ""
        return JudgeError(
            f"{opinion.judge} gave no verdict ({opinion.fault}){quoted}",
            kind=str(opinion.fault),
            reply=opinion.reply,
        )
    return error
