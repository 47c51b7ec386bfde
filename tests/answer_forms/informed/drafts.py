"""The parts that forms are made of: an answer in its spellings, the case it belongs to, and the writer that composes.

A `Case` is one question with its answer, wrong answers and sentences of reasoning; the modules of the kinds make them.
A `Writer` has one random generator and one case, and notes the name of each production that it uses.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import Final, Generic, TypeVar

from tests.answer_forms.form import Kind, Style
from tests.answer_forms.informed.english import CLAUSES
from tests.answer_forms.informed.words import Words

T = TypeVar("T")
BOXES: Final = (
    "\\boxed{§}",
    "$\\boxed{§}$",
    "$$\\boxed{§}$$",
    "\\[\\boxed{§}\\]",
    "\\[\n\\boxed{§}\n\\]",
    "$$\n\\boxed{§}\n$$",
    "\\(\\boxed{§}\\)",
    "\\boxed{ § }",
    "**\\boxed{§}**",
    "\\fbox{§}",
    "$\\fbox{§}$",
)
ENGLISH_BOXES: Final = (
    "The final answer is $\\boxed{§}$.",
    "The answer is \\(\\boxed{§}\\).",
    "So the answer is $\\boxed{§}$.",
    "Therefore, the final answer is:\n\n$$\\boxed{§}$$",
    "**Final Answer**\n\\[ \\boxed{§} \\]",
    "Final Answer: The final answer is $\\boxed{§}$. I hope it is correct.",
    "Final Answer: The final answer is \\boxed{§}. I hope it is correct.",
    "Answer: \\boxed{§}",
    "**Answer:** $\\boxed{§}$",
    "**Final Answer:** \\(\\boxed{§}\\)",
    "Thus, the answer is \\boxed{§}.",
    "### Final Answer\n\n$\\boxed{§}$",
    "Hence the answer is\n\\[\n\\boxed{§}.\n\\]",
)
TAGS: Final = (
    "<answer>§</answer>",
    "<answer>\n§\n</answer>",
    "<answer> § </answer>",
    "<ANSWER>§</ANSWER>",
    "<final_answer>§</final_answer>",
    "<final_answer>\n§\n</final_answer>",
    "<finalAnswer>§</finalAnswer>",
    "<final>§</final>",
    "<result>§</result>",
    "<result>\n§\n</result>",
    "<output>\n§\n</output>",
    "<response>\n<answer>§</answer>\n</response>",
    "<response>\n  <answer>§</answer>\n</response>",
    "FINAL ANSWER:\n<answer>\n§\n</answer>",
    "Final answer: <answer>§</answer>",
    "<answer>**§**</answer>",
    "[ANSWER]§[/ANSWER]",
    "[ANSWER]\n§\n[/ANSWER]",
    "<solution>§</solution>",
    "`<answer>§</answer>`",
    "<|begin_of_solution|>\n§\n<|end_of_solution|>",
)
ENGLISH_TAGS: Final = (
    "<answer>The answer is §.</answer>",
    "<answer>Answer: §</answer>",
    "<final>Final answer: §</final>",
)
ENGLISH_LINES: Final = (
    "Answer: §",
    "**Answer:** §",
    "ANSWER: §",
    "Final answer: §",
    "The answer is §.",
    "### Answer\n§",
)
"""Markers that prompts ask for in whatever language the answer is."""
RECORDS: Final = (
    '{"answer": ¶}',
    '{"final_answer": ¶}',
    '```json\n{"answer": ¶}\n```',
    '```json\n{\n  "answer": ¶\n}\n```',
    '{"reasoning": ¬, "answer": ¶}',
    '```json\n{\n  "reasoning": ¬,\n  "final_answer": ¶\n}\n```',
    '{"answer": ¶, "confidence": 0.9}',
    '{"answer": ¶, "explanation": ¬}',
    '```\n{"answer": ¶}\n```',
    "```yaml\nreasoning: ¬\nanswer: ¶\n```",
    "```yaml\nanswer: ¶\n```",
    "reasoning: ¬\nanswer: ¶",
    '{"thought": ¬, "result": {"answer": ¶}}',
)
_DRESSES: Final = (
    (10, "bold", "**§**"),
    (3, "italic", "*§*"),
    (1, "bold italic", "***§***"),
    (1, "underscores", "__§__"),
    (3, "code", "`§`"),
    (3, "quotes", '"§"'),
    (2, "typographic quotes", "“§”"),
    (1, "single quotes", "'§'"),
    (1, "html", "<b>§</b>"),
    (1, "zero-width", "\u200b§"),
    (1, "direction mark", "\u200e§"),
    (1, "no-break space", "\u00a0§"),
    (1, "emoji", "§ ✅"),
    (1, "emoji", "✅ §"),
    (45, "plain", "§"),
)


@dataclass(frozen=True)
class Answer:
    """One answer in its spellings."""

    canonical: str
    said: str
    """In running text."""
    line: str
    """After a marker, on a line of its own."""
    tex: str
    """In a box."""
    bare: str = ""
    """As short as it gets; a letter without its option's text."""
    literal: object = None
    """As a value of JSON; None for `said`."""
    notes: tuple[str, ...] = ()
    """Features of this spelling."""
    full: str = ""
    """In the sentences of its own case, such as with a unit that they cannot do without."""

    @property
    def short(self) -> str:
        return self.bare or self.said

    @property
    def value(self) -> str:
        return json.dumps(self.said if self.literal is None else self.literal, ensure_ascii=False)


@dataclass
class Case:
    """One question, its answer, and what a response may say about it."""

    answer: Answer
    wrong: list[Answer]
    """At least two, the most plausible first."""
    question: str
    reasons: list[str]
    """Sentences of reasoning that name no final answer."""
    explanations: list[str]
    """Sentences that may follow an answer."""
    neutral: list[str] | None = None
    """The reasoning of a response without an answer, where it must not leave one; None for the same."""
    sentences: Sequence[str] = ()
    """Declarations of this kind or case."""
    neighbours: Sequence[str] = ()
    """Further wrong answers, as canonical texts."""
    options: tuple[str, ...] = ()
    is_binary: bool = False
    """Whether denying one answer states the other."""
    is_refusable: bool = True
    """Whether "it cannot be determined" is no answer here."""


@dataclass
class Draft:
    """A response before it becomes a form."""

    response: str
    is_stated: bool = True
    prompt: str = ""
    answer: Answer | None = None
    """Another answer than the case's, such as the one that a denial leaves."""
    others: tuple[str, ...] = ()
    """Wrong answers of this response, as canonical texts."""


class Weighted(Generic[T]):
    """A list of values with weights, drawn from in logarithmic time."""

    def __init__(self, pairs: Sequence[tuple[float, T]]) -> None:
        self.values = [value for _, value in pairs]
        self._bounds = list(accumulate(weight for weight, _ in pairs))

    def draw(self, rng: Random) -> T:
        return self.values[min(bisect(self._bounds, rng.random() * self._bounds[-1]), len(self.values) - 1)]


_DRESS: Final = Weighted([(weight, (name, template)) for weight, name, template in _DRESSES])
_FAMILY: Final = Weighted([(34, "sentence"), (26, "line"), (13, "own"), (12, "box"), (9, "tag"), (4, "record")])
_CLOSED: Final = (".", "。", "!", "?")


@dataclass
class Writer:
    """Composes one response."""

    rng: Random
    kind: Kind
    style: Style
    language: str
    words: Words
    case: Case
    make: Callable[[], Case]
    """Makes another case of the same kind and language."""
    features: list[str] = field(default_factory=list)
    mentioned: list[str] = field(default_factory=list)
    is_silent: bool = False
    """Whether the response is to give no answer, so that nothing in it may express confidence."""

    def pick(self, values: Sequence[T]) -> T:
        return values[int(self.rng.random() * len(values))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def note(self, feature: str) -> None:
        self.features.append(feature)

    def wrong(self) -> Answer:
        """Return a wrong answer that the response is going to mention."""
        answer = self.case.wrong[0] if self.chance(0.6) else self.pick(self.case.wrong)
        self.mentioned.append(answer.canonical)
        return answer

    def dressed(self, said: str) -> str:
        """Return an answer in running text, perhaps emphasised, quoted or beside an invisible character."""
        name, template = _DRESS.draw(self.rng)
        if name == "plain" or "\n" in said or "“" in said or (name == "code" and "$" in said):
            return said
        if said[-1:] in ".。" and name != "bold":
            return said
        if self.kind == "text" and (any(mark in said for mark in "*_`$^") or (name == "emoji" and not said.isascii())):
            return said
        if said[:1] in "*_`\"“'$" or (self.kind == "mathematics" and name not in {"bold", "zero-width"}):
            return said
        self.note(name)
        return template.replace("§", said)

    def fill(self, template: str, answer: Answer, other: Answer | None = None, *, own: bool = False) -> str:
        """Return a sentence with an answer in its place, without a doubled full stop."""
        said = self.dressed((answer.full or answer.short) if own else answer.said)
        place = template.find("§")
        if place == 0 and said[:1].islower() and self.kind in {"text", "label", "yes_no"}:
            said = said[0].upper() + said[1:] if self.kind == "yes_no" else f"“{said}”"
        text = template.replace("§", said)
        if other is not None and "¤" in text:
            self.mentioned.append(other.canonical)
            text = text.replace("¤", other.short if own else other.said)
        self.features.extend(answer.notes)
        return _single_stops(text)

    def mention(self, templates: Sequence[str], *, also: Answer | None = None) -> str:
        """Return one of the sentences about a wrong answer (``¤``), perhaps beside the answer itself (``§``)."""
        template = self.pick(templates)
        if self.kind == "yes_no":  # "No es incorrecto" would deny, not mention
            template = self.pick([text for text in templates if not text.startswith("¤")])
        answer = self.wrong()
        text = template.replace("¤", answer.short if self.chance(0.7) else answer.said)
        if "§" in text:
            text = text.replace("§", (also or self.case.answer).short)
        return _single_stops(text)

    def declare(self, answer: Answer, *, family: str = "") -> str:
        """Return a declaration of an answer in any family."""
        chosen = family or _FAMILY.draw(self.rng)
        if chosen == "own" and not self.case.sentences and not (self.kind == "letter" and self.words.letters):
            chosen = "sentence"
        self.note(f"declared by {chosen}")
        english = self.language == "en"
        if chosen == "line":
            self.features.extend(answer.notes)
            template = self.pick(self.words.lines)
            if self.language != "en" and self.chance(0.15):
                self.note("English marker")
                template = self.pick(ENGLISH_LINES)
            return _single_stops(in_line(template, answer.line))
        if chosen == "box":
            self.features.extend(answer.notes)
            boxes = ENGLISH_BOXES if english and self.chance(0.55) else BOXES
            if not english and self.chance(0.4):
                return _single_stops(self.pick(self.words.sentences).replace("§", f"$\\boxed{{{answer.tex}}}$"))
            return self.pick(boxes).replace("§", answer.tex)
        if chosen == "tag":
            self.features.extend(answer.notes)
            tags = ENGLISH_TAGS if english and self.chance(0.08) else TAGS
            return self.pick(tags).replace("§", answer.short if self.chance(0.5) else answer.line)
        if chosen == "record":
            return self.record(answer)
        if chosen == "own":
            own = self.case.sentences or self.words.letters
            return self.fill(self.pick(own), answer, own=True)
        text = self.fill(self.pick(self.words.sentences), answer)
        if english and self.chance(0.1) and text.endswith(".") and text.count(".") == 1:
            self.note("reason in the sentence")
            return text[:-1] + self.pick(CLAUSES)
        return text

    def record(self, answer: Answer) -> str:
        """Return an answer as JSON or YAML."""
        reason = json.dumps(self.pick(self.case.reasons or self.words.fillers), ensure_ascii=False)
        self.features.extend(answer.notes)
        return self.pick(RECORDS).replace("¬", reason).replace("¶", answer.value)

    def reasons(self, most: int = 3) -> list[str]:
        """Return sentences of reasoning: those of the case in their order, and perhaps a general one before them."""
        own = self.case.reasons
        start = 0 if len(own) <= most else int(self.rng.random() * (len(own) - most + 1))
        chosen = own[start : start + most]
        return [self.pick(self.words.fillers), *chosen] if not chosen or self.chance(0.5) else list(chosen)

    def explanation(self) -> list[str]:
        """Return a sentence that may follow an answer."""
        return [self.pick(self.case.explanations or self.case.reasons or self.words.fillers)]

    def closing(self, probability: float = 0.3) -> list[str]:
        """Return a polite ending, a note or a statement of confidence, or nothing."""
        if not self.chance(probability):
            return []
        text = self.pick(self.words.closings)
        if self.is_silent and (any(mark.isdigit() for mark in text) or "onfiden" in text or "follows" in text):
            return []
        self.note("confidence" if any(mark.isdigit() for mark in text) else "closing")
        return [text]

    def join(self, parts: Sequence[str]) -> str:
        """Return parts as one text; what is a line or a block of its own keeps its lines."""
        separator = self.pick((" ", " ", "\n", "\n\n", "\n\n"))
        text = ""
        for part in parts:
            if not text:
                text = part
            elif _is_block(part) or _is_block(text.rpartition("\n\n")[2]):
                text += ("\n\n" if self.chance(0.7) else "\n") + part
            else:
                text += separator + part
        return text


def in_line(template: str, line: str) -> str:
    """Return a template with an answer on a line, without emphasis inside emphasis or around a display."""
    if line.startswith(("$$", "\\[")):
        template = template.replace("**§**", "§")
    if "**" in template:
        line = line.replace("**", "")
    return template.replace("§", line)


def _single_stops(text: str) -> str:
    """Return a text without a full stop after another one, unless they make an ellipsis."""
    if ".." in text and "..." not in text:
        text = text.replace("..", ".")
    return text.replace(".。", "。")


_BLOCK_MARKS: Final = ("#", "**", "- ", "* ", ">", "|", "```", "{", "<", "[", "\\[", "$$", "\\boxed", "1. ", "---", "→")


def _is_block(part: str) -> bool:
    """Return whether a part needs lines of its own: it has lines, opens like a block or ends without a full stop."""
    return "\n" in part or part.startswith(_BLOCK_MARKS) or not part.rstrip('*)"”’').endswith(_CLOSED)
