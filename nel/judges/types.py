"""The words of judging: what is judged, what a judge asks, how it decides. Pure; it sends nothing.

    Case -> Question ... -> Grade (of one reply) -> Opinion (of one judge) -> Judgement (of the panel)

A judge is a plugin that turns a case into questions and their grades into one. What asks, asks again, keeps and counts
is the engine. Trap: a reply without a clear verdict is a fault of the judge, never a low grade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from nel.types import Message

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
"""What may be said of two grades that differ: only that, which is higher, or by how much."""

Aggregate: TypeAlias = Literal["majority", "mean", "median", "min", "max"]
"""How the opinions of a panel become one grade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One response to be judged and everything a judge may be told of it; crosses to other processes."""

    response: str = ""
    """What is judged: the work of somebody who may want to be graded well; empty: the sample's answer."""
    template: str = ""
    """Name of an installed judge, or the text of a template; empty: as the run says, else ``binary_qa``."""
    question: str = ""
    reference: str | None = None
    """The gold answer as text; None where there is none."""
    criteria: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Further placeholders: the row's fields, and what the scorer gave, such as a ``baseline`` or a ``rubric``."""
    grade_pattern: str | None = None
    """Regular expression whose first group is the grade, instead of the template's own."""
    score_mapping: Mapping[str, float] | None = None
    """Grade to score, instead of the template's own."""
    judges: tuple[str, ...] = ()
    """Members of the panel, models or roles by name; empty: the whole panel."""
    aggregate: Aggregate | None = None
    """How opinions become one; None: as the run says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What one reply, one judge or one panel says."""

    label: str
    """``C``, ``4``, ``SAFE``, ``first`` …"""
    score: float
    """Finite; becomes the reward."""
    explanation: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Further numbers, by name."""


Read: TypeAlias = Callable[[str], Grade]
"""Reads a reply; raises `JudgeError` with its kind (``no_verdict``, ``two_verdicts``, ``out_of_range`` …)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One message to a judging model and how its reply is read."""

    prompt: str
    read: Read
    label: str = ""
    """Tells the questions of one case apart: the criterion's number, or which answer came first."""
    again: str = "Your reply holds no verdict that can be read. Reply once more, exactly in the form asked for."
    """What is said behind a reply that could not be read, once."""
    is_quick: bool = False
    """Whether every reply is read in well under a millisecond; what is not is read beside the run's event loop."""
    messages: tuple[Message, ...] = ()
    """What is sent instead of the prompt, where a scorer words a whole conversation."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Generation settings that the scorer wants, by their names in the configuration; the run's own go before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One way of judging: a plugin of the group ``nel.judges``."""

    name: str
    description: str
    """One line, shown by ``nel list``."""
    ask: Callable[[Case], Sequence[Question]]
    """Returns the questions about a case; raises `JudgeError` where it lacks what is needed.

    A plugin's runs in a thread, as do its readers and ``settle``: it may block, for `engine.scorer_timeout_seconds`.
    """
    settle: Callable[[Case, Sequence[Grade]], Grade] | None = None
    """Makes one grade of those of all questions; None: there is one question."""
    example: Case = field(
        default_factory=lambda: Case(response="Paris", question="The capital of France?", reference="Paris")
    )
    """A case that it can be asked about; conformance checks use it."""
    example_reply: str
    """A reply to a question about the example that reads as full marks."""
    level: Level = "nominal"
    """Of its grades, for measures of agreement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one member of a panel came to, over all its questions and repeats."""

    judge: str
    """The member's name."""
    grade: Grade | None
    """None where it gave no verdict that can be used."""
    repeats: tuple[Grade | None, ...] = ()
    """The grade of each repeat, where the case was put more than once."""
    questions: tuple[tuple[str, str], ...] = ()
    """Label and grade of each question of the first repeat, where there are several."""
    reasked: int = 0
    """Questions that had to be put a second time."""
    fault: str | None = None
    """Why there is no grade: the kind of the fault."""
    reply: str = ""
    """The last reply as it came, or what the fault says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a panel came to; kept with the sample."""

    template: str
    """Name of the judge, ``custom`` for a text."""
    grade: Grade
    aggregate: Aggregate
    quorum: int
    """So many opinions were needed."""
    opinions: tuple[Opinion, ...]
    level: Level = "nominal"
