"""The types of judging, and the check that a case has the types it declares::

    Case -> Question ... -> Grade -> Opinion -> Judgement

A grade is that of one reply, an opinion that of one judge, a judgement that of the panel.

A judge is a plugin that turns a case into questions and their grades into one grade. Requests,
retries, storage and counting are the engine's. A reply without a clear verdict is a judge error,
never a low grade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeAlias, get_args

from nel.core.json_values import is_number
from nel.errors import JudgeError, did_you_mean
from nel.types import Json, JsonObject, Message, value_class

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
"""Level of measurement: two grades are only different, or ordered, or a known distance apart."""

Aggregate: TypeAlias = Literal["majority", "mean", "median", "min", "max"]
"""How the opinions of a panel become one grade."""

SETTING_FAULTS: Final = frozenset({"no_judge", "bad_template", "bad_case", "raised", "no_question"})
"""Kinds of judge errors that lie in what is asked: a retry gives the same error."""
TEMPLATE: Final = "_template"
"""The key of a case's values that holds a wrapped judge: its name, or the text of a template."""
PROMPT: Final = "_prompt"
"""The key that holds the complete prompt instead, sent as it is."""
_TEXTS: Final = ("response", "template", "question", "criteria")
_TEXTS_OR_NONE: Final = ("reference", "grade_pattern")
_AGGREGATES: Final = get_args(Aggregate)


@value_class(kw_only=True)
class Case:
    """One response to be judged, with everything that a judge may be shown; it can be pickled."""

    response: str = ""
    """The text that is judged, which is untrusted; empty: the sample's answer."""
    template: str = ""
    """An installed judge, or the text of a template; empty: as the run says, else ``binary_qa``."""
    yields_template: bool = False
    """Whether `template` is only the scorer's default, which a template of the run replaces."""
    question: str = ""
    reference: str | None = None
    """The gold answer as text; None where there is none."""
    criteria: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Further placeholders: the row's fields, and what the scorer adds, such as a ``rubric``."""
    grade_pattern: str | None = None
    """Regular expression whose first group is the grade, instead of the template's own."""
    score_mapping: Mapping[str, float] | None = None
    """Grade to score, instead of the template's own."""
    by_logprobs: bool = False
    """Whether to grade by the log-probabilities of the first token; needs `score_mapping`."""
    judges: tuple[str, ...] = ()
    """Members of the panel, models or roles by name; empty: the whole panel."""
    aggregate: Aggregate | None = None
    """How opinions become one; None: as the run says."""


@value_class(kw_only=True)
class Grade:
    """The verdict of one reply, one judge or one panel."""

    label: str
    """``C``, ``4``, ``SAFE``, ``first`` …"""
    score: float
    """Finite; becomes the reward."""
    explanation: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Further numbers, by name."""


Read: TypeAlias = Callable[[str], Grade]
"""Reads a reply; raises `JudgeError` with its kind, such as ``no_verdict`` or ``two_verdicts``."""

ReadTokens: TypeAlias = Callable[[Mapping[str, float]], Grade]
"""Reads the log-probabilities of a reply's first token; raises `JudgeError` (``no_verdict``)."""


@value_class(kw_only=True)
class Question:
    """One message to a judging model and how its reply is read."""

    prompt: str
    read: Read
    label: str = ""
    """Tells the questions of one case apart: a criterion's number, or which answer comes first."""
    again: str = (
        "Your reply holds no verdict that can be read. Reply once more, exactly in the form asked"
        " for."
    )
    """The message that follows a reply that could not be read; sent once."""
    read_tokens: ReadTokens | None = None
    """Reads the log-probabilities of the first token, if there are any, instead of the reply."""
    top_logprobs: int = 0
    """Alternatives for the first token that are requested with the question, for `read_tokens`."""
    is_quick: bool = False
    """Whether `read` takes well under a millisecond on every reply; if not, it runs in a thread."""
    messages: tuple[Message, ...] = ()
    """Sent instead of the prompt, where a scorer supplies a whole conversation."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Generation settings of the scorer by name; those of the run take precedence."""
    tools: tuple[JsonObject, ...] = ()
    """Tools that the judge may call, in the OpenAI shape. With any, `read` gets a reply as the JSON
    text ``{"content": …, "tool_calls": [{"id": …, "name": …, "arguments": …}]}``."""
    tool_choice: Json = None
    """Which of them it must call, in the OpenAI shape; None: not sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One way of judging: a plugin of the group ``nel.judges``."""

    name: str
    description: str
    """One line, shown by ``nel list``."""
    ask: Callable[[Case], Sequence[Question]]
    """Returns the questions about a case; raises `JudgeError` where the case lacks what is needed.

    For a plugin it runs in a thread, as do its readers and ``settle``: it may block, up to
    `engine.scorer_timeout_seconds`.
    """
    settle: Callable[[Case, Sequence[Grade]], Grade] | None = None
    """Combines the grades of all questions into one; None where there is one question."""
    example: Case = field(
        default_factory=lambda: Case(
            response="Paris", question="The capital of France?", reference="Paris"
        )
    )
    """A case that it can be asked about; conformance checks use it."""
    example_reply: str
    """A reply to a question about the example that earns the highest grade."""
    level: Level = "nominal"
    """Level of its grades, for measures of agreement."""
    needs_reference: bool = False
    """Whether it grades by the reference; a case without one is then a bad row, never asked."""
    data: Sequence[str | Path] = ()
    """Files and folders, relative to the file of `ask`, whose content decides its questions or
    grades.
    """


@value_class(kw_only=True)
class Opinion:
    """The result of one panel member, over all its questions and repeats."""

    judge: str
    """The member's name."""
    grade: Grade | None
    """None where it gave no usable verdict."""
    repeats: tuple[Grade | None, ...] = ()
    """The grade of each repeat, where the judge was asked more than once."""
    questions: tuple[tuple[str, str], ...] = ()
    """Label and grade of each question of the first repeat, where there are several."""
    reasked: int = 0
    """Questions that were sent a second time because the reply could not be read."""
    fault: str | None = None
    """Why there is no grade: the kind of the fault."""
    reply: str = ""
    """The last reply verbatim, or the message of the fault."""


@value_class(kw_only=True)
class Judgement:
    """The result of a panel; stored with the sample."""

    template: str
    """Name of the judge, ``custom`` for a text."""
    grade: Grade
    aggregate: Aggregate
    quorum: int
    """The number of opinions that were needed."""
    opinions: tuple[Opinion, ...]
    level: Level = "nominal"


def require_questions(entries: Sequence[object], judge: str) -> list[Question]:
    """Return the questions that a judge's ``ask`` returned.

    Raises:
        JudgeError: There are none, or it returned something else.
    """
    questions = [entry for entry in entries if isinstance(entry, Question)]
    if len(questions) < len(entries):
        raise JudgeError(
            f"ask of {judge} returned a list of {type(entries[0]).__name__}; return a list of"
            " nel.Question",
            kind="raised",
        )
    if not questions:
        raise JudgeError(f"{judge} asks nothing about this case", kind="no_question")
    return questions


def require_grade(returned: object, function: str) -> Grade:
    """Return the grade that ``read`` or ``settle`` returned.

    Raises:
        JudgeError: It is not a grade.
    """
    if not isinstance(returned, Grade):
        raise JudgeError(
            f"{function} returned {returned!r:.60} ({type(returned).__name__}); return a nel.Grade",
            kind="raised",
        )
    return returned


def check_case(case: Case) -> None:
    """Refuse a case whose fields have wrong types.

    Scorers fill cases from rows and from their authors' keywords. A wrong type must be found here,
    as a fault of this case; where a list is first used as text it would end the run.

    Raises:
        JudgeError: ``bad_case``; the message names the field, its value and the type that it must
            have.
    """
    for name in (*_TEXTS, *_TEXTS_OR_NONE):
        value = getattr(case, name)
        if not isinstance(value, str) and not (value is None and name in _TEXTS_OR_NONE):
            _refuse(name, value, "a text")
    if not isinstance(case.values, Mapping):
        _refuse("values", case.values, "a mapping of names to values")
    for name in case.values:
        if not isinstance(name, str):
            _refuse("a name among the values", name, "a text")
    _check_mapping(case.score_mapping)
    if not isinstance(case.judges, tuple) or not all(isinstance(name, str) for name in case.judges):
        _refuse("judges", case.judges, "a list of names")
    if case.aggregate is not None and case.aggregate not in _AGGREGATES:
        hint = did_you_mean(str(case.aggregate), _AGGREGATES)
        raise JudgeError(
            f"the aggregate {case.aggregate!r:.80} is none of {', '.join(_AGGREGATES)}{hint}",
            kind="bad_case",
        )


def _check_mapping(mapping: object) -> None:
    if mapping is None:
        return
    if not isinstance(mapping, Mapping):
        _refuse(
            "score_mapping", mapping, 'a mapping of grades to numbers, such as {"C": 1.0, "I": 0.0}'
        )
    for grade, score in mapping.items():
        if not is_number(score):
            _refuse(f"the score of the grade {grade!r:.40} in score_mapping", score, "a number")


def _refuse(name: str, value: object, kind: str) -> NoReturn:
    raise JudgeError(
        f"{name} is {value!r:.80} ({type(value).__name__}); give {kind}", kind="bad_case"
    )


def only_reply(judgement: Judgement) -> str:
    """Return the reply of a panel of one.

    Raises:
        JudgeError: The panel has several judges.
    """
    replies = [opinion.reply for opinion in judgement.opinions if opinion.grade is not None]
    if len(judgement.opinions) != 1 or not replies:
        raise JudgeError(
            f"the scorer reads the reply of one judge and the panel has {len(judgement.opinions)};"
            " use grade_pattern",
            kind="unsupported",
        )
    return replies[0]
