"""What a judge's reply comes to: read, settled, asked for again, or a fault that is told in its words. Sends nothing.

Trap: whatever a judge's plugin raises is a fault of that judge, for this case alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from nel.engine.judging.plugin_threads import TOO_SLOW, PluginThreads
from nel.errors import JudgeError
from nel.judges.types import Case, Grade, Judge, Opinion, Question
from nel.types import Message, Response

_READ_AT_ONCE_MAX: Final = 20_000
"""Characters of a reply that are read on the event loop."""
_QUESTIONS_AT_ONCE_MAX: Final = 10
"""Criteria whose questions are made on the event loop; 500 take 70 milliseconds and more."""
_OF_CODE: Final = frozenset({TOO_SLOW, "raised"})
_OWN: Final = "nel.judges."
_OF_OTHERS: Final = frozenset({"nel.judges.custom_templates", "nel.judges.reply_formats"})
"""Modules of nel that call what others wrote: templates, which may loop, and any other judge."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one question came to."""

    text: str
    grade: Grade | JudgeError
    reasked: int

    @property
    def label(self) -> str:
        """Return the grade's label, or the kind of the fault."""
        return self.grade.label if isinstance(self.grade, Grade) else self.grade.kind


ASKED_AGAIN: Final = frozenset({"no_verdict", "two_verdicts", "out_of_range", "truncated", "empty", "refused"})


async def questions_of(judge: Judge, case: Case, beside: PluginThreads) -> Sequence[Question]:
    """Return what a judge asks about a case; raises JudgeError where it cannot, takes too long or asks nothing."""
    try:
        if _is_quick(judge.ask, case):
            questions = judge.ask(case)
        else:
            questions = await beside.call(f"{judge.name}: asking", _asked, judge, case)
    except JudgeError:
        raise
    except Exception as error:
        raise JudgeError(f"{judge.name} failed to ask: {type(error).__name__}: {error}", kind="raised") from error
    if not questions:
        raise JudgeError(f"{judge.name} asks nothing about this case", kind="no_question")
    return questions


def _asked(judge: Judge, case: Case) -> list[Question]:
    return list(judge.ask(case))  # a generator would compute later, on the event loop


async def settled(judge: Judge, case: Case, replies: Sequence[Reply], beside: PluginThreads) -> Grade | JudgeError:
    """Return the grade that one round of questions comes to, or why it comes to none."""
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
        return await beside.call(f"{judge.name}: settling", judge.settle, case, grades)
    except JudgeError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a plugin's fault is one of the judge, for this case alone
        return JudgeError(f"{judge.name} failed to settle: {type(error).__name__}: {error}", kind="raised")


def _is_quick(function: Callable[..., Any], case: Case) -> bool:
    """Return whether a judge's function takes about a millisecond on a case: one of nel's own, and little to quote."""
    own = inspect.unwrap(getattr(function, "func", function))
    module = getattr(own, "__module__", None) or ""
    if not module.startswith(_OWN) or module in _OF_OTHERS:
        return False
    longest = max((len(value) for value in case.values.values() if isinstance(value, (list, tuple))), default=0)
    return longest <= _QUESTIONS_AT_ONCE_MAX and len(case.response) + len(case.question) <= _READ_AT_ONCE_MAX


async def read_reply(question: Question, response: Response, beside: PluginThreads) -> Grade | JudgeError:
    """Return the grade of a whole reply, or why there is none; what may take long is read in a thread."""
    try:
        if question.is_quick and len(response.text) <= _READ_AT_ONCE_MAX:
            return _grade_of(question, response)
        return await beside.call("reading a reply", _grade_of, question, response)
    except JudgeError as error:
        return error


def _grade_of(question: Question, response: Response) -> Grade:
    """Return the grade of a whole reply.

    Raises:
        JudgeError: It is no answer, cut off, or holds no verdict.
    """
    error = response.error
    if error is not None:
        raise JudgeError(f"the judge did not answer: {error.message}", kind=error.kind)
    text = response.text
    if response.finish_reason == "length":
        raise JudgeError("the judge's reply was cut off by its token limit", kind="truncated", reply=text)
    if response.finish_reason in ("content_filter", "refusal"):
        raise JudgeError("the judge refused", kind="refused", reply=text)
    if not text.strip():
        raise JudgeError("the judge's reply is empty", kind="empty", reply=text)
    try:
        return question.read(text)
    except JudgeError as problem:
        raise JudgeError(str(problem), kind=problem.kind, reply=text) from problem
    except Exception as problem:
        raise JudgeError(
            f"the reply could not be read: {type(problem).__name__}: {problem}", kind="raised", reply=text
        ) from problem


def messages_again(messages: Sequence[Message], reply: str, again: str) -> list[Message]:
    """Return a conversation that asks once more behind a reply that could not be read."""
    if not reply.strip():
        *before, last = messages
        content = last.content
        said = f"{content}\n\n{again}" if isinstance(content, str) else (*content, {"type": "text", "text": again})
        return [*before, replace(last, content=said)]
    return [*messages, Message(role="assistant", content=reply), Message(role="user", content=again)]


def said_by(grade: Grade | None, fault: JudgeError | None, replies: Sequence[Reply]) -> str:
    """Return the last reply as it came, or what the fault says; where a plugin's code failed, no reply tells why."""
    if grade is None and fault is not None:
        return str(fault) if fault.kind in _OF_CODE else fault.reply or str(fault)
    return replies[-1].text


def fault_of_panel(error: JudgeError, opinions: Sequence[Opinion]) -> JudgeError:
    """Return the fault of a panel; that of its one judge is told in that judge's words."""
    if len(opinions) == 1 and opinions[0].fault is not None:
        one = opinions[0]
        shown = f": {one.reply[:200]}" if one.reply else ""
        return JudgeError(f"{one.judge} gave no verdict ({one.fault}){shown}", kind=str(one.fault), reply=one.reply)
    return error
