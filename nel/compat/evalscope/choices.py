"""Options, their letters, and how EvalScope reads a letter from a reply. Pure.

A reply without ``ANSWER:`` gives its last capital letter, where that is an option. nel's own
adapter guesses nothing.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable
from typing import Any, Final

from nel.compat.evalscope.templates import FEW_SHOT_TEMPLATE, MultipleChoiceTemplate

__all__ = [
    "FEW_SHOT_TEMPLATE",
    "Choice",
    "Choices",
    "MultipleChoiceTemplate",
    "Target",
    "answer_character",
    "answer_options",
    "extract_answer_line",
    "format_example",
    "format_letter_choices",
    "parse_answers",
    "parse_answers_zh",
    "prompt",
    "valid_template",
]

# ``ANSWER: B``, ``**Answer:** B``.
_MARKER: Final = re.compile(r"ANSWER\s*:\s*\**\s*", re.IGNORECASE)
_MARKER_ZH: Final = re.compile(r"答案\s*[:：]\s*\**\s*")
_SEPARATORS: Final = ",，/、"
# After the marker: ``(B)``, ``[A, C]``, ``（B）``; ``B``, ``A, C``, ``AC``.
_BRACKETED: Final = re.compile(
    rf"[(\[（【]\s*([A-Za-z\d](?:\s*[{_SEPARATORS}]\s*[A-Za-z\d])*)\s*[)\]）】]"
)
_PLAIN: Final = re.compile(rf"([A-Za-z\d][A-Za-z\d {_SEPARATORS}]*)")
# What LaTeX puts before a letter: ``$``, ``\(``, ``\boxed{\text{``.
_TYPESET: Final = re.compile(
    r"(?:(?:\$+|\\\(|\\(?:boxed|fbox|text|textbf|mathbf|mathrm)\s*\{)\s*)*"
)
_TOKEN: Final = re.compile(r"[A-Za-z\d]+")
_CONNECTOR: Final = re.compile(r"\s+(?:and|or)\s+", re.IGNORECASE)


class Choice(str):
    """One option."""

    @property
    def value(self) -> str:
        """Return the text."""
        return str(self)


class Choices(list[Choice]):
    """The options of a sample."""

    def __init__(self, choices: Iterable[str | Choice] | None = ()) -> None:
        """Take texts, or options."""
        super().__init__(map(Choice, choices or ()))


class Target(tuple[str, ...]):
    """The right answers, stripped, each once; an empty one is none."""

    __slots__ = ()

    def __new__(cls, target: str | Iterable[str]) -> Target:
        """Take a text or several."""
        texts = map(str, [target] if isinstance(target, str) else target)
        return super().__new__(cls, dict.fromkeys(filter(None, map(str.strip, texts))))

    @property
    def values(self) -> tuple[str, ...]:
        """Return the answers."""
        return self

    @property
    def display(self) -> str:
        """Return one answer a line."""
        return "\n".join(self)

    text = display

    def compact(self) -> str:
        """Return the answers without anything between."""
        return "".join(self)


def answer_character(index: int) -> str:
    """Return an option's letter; after Z a number from 1.

    >>> answer_character(0), answer_character(25), answer_character(26)
    ('A', 'Z', '1')
    """
    return chr(ord("A") + index) if index < len(string.ascii_uppercase) else str(index - 25)


def answer_options(choices: Iterable[str | Choice]) -> str:
    """Return options as lines with their letters.

    >>> print(answer_options(["red", "blue"]))
    A) red
    B) blue
    """
    return "\n".join(
        f"{answer_character(position)}) {choice}" for position, choice in enumerate(choices)
    )


def format_letter_choices(choices: Iterable[str | Choice]) -> str:
    """Return the letters of options.

    >>> format_letter_choices(["red", "blue"])
    'A,B'
    """
    return ",".join(answer_character(position) for position, _ in enumerate(choices))


def prompt(
    question: object,
    choices: Iterable[str | Choice],
    template: str,
    fewshot: str | None = None,
    **_: object,
) -> str:
    """Return a template with question, options and their letters."""
    options = list(choices)
    values: dict[str, object] = {
        "choices": answer_options(options),
        "letters": format_letter_choices(options),
    }
    return template.format(question=question, **values, **({"fewshot": fewshot} if fewshot else {}))


def format_example(question: object, choices: Iterable[str | Choice], answer: Target | str) -> str:
    """Return a solved example.

    >>> format_example("Sky?", ["red", "blue"], "B")
    'Sky?\\nA) red\\nB) blue\\nANSWER: B'
    """
    letters = answer.compact() if isinstance(answer, Target) else answer
    return f"{question}\n{answer_options(choices)}\nANSWER: {letters}"


def valid_template(template: str) -> bool:
    """Return whether a template names question and choices."""
    return "{question}" in template and "{choices}" in template


def extract_answer_line(text: str) -> str | None:
    """Return what stands after the last ``ANSWER:`` on its line, without bold; None without one.

    >>> extract_answer_line("so\\n**Answer: 45**"), extract_answer_line("45")
    ('45', None)
    """
    markers = list(_MARKER.finditer(text or ""))
    if not markers:
        return None
    line = text[markers[-1].end() :].split("\n", 1)[0]
    return line.strip().strip("*").strip()


def parse_answers(
    state: Any, multiple_correct: bool = False, completion: str | None = None
) -> set[str]:
    """Return the letters that a reply gives after ``ANSWER:``, the last that holds one.

    Args:
        state: With ``choices`` and ``output.completion``.
        multiple_correct: Several letters are an answer; otherwise several are none.
        completion: Read instead of the state's.
    """
    return _letters(state, completion, _MARKER, _divide if multiple_correct else _whole)


def parse_answers_zh(
    state: Any, multiple_correct: bool = False, completion: str | None = None
) -> set[str]:
    """Return the letters that a reply gives after ``答案：``; see `parse_answers`."""
    return _letters(state, completion, _MARKER_ZH, _divide_zh if multiple_correct else _whole)


def _letters(
    state: Any,
    completion: str | None,
    marker: re.Pattern[str],
    divide: Callable[[str], list[set[str]]],
) -> set[str]:
    """Return the first division of the marked answer that is labels alone; without a marked answer
    the last capital letter, where it is a label.
    """
    text = state.output.completion if completion is None else completion
    labels = {answer_character(position) for position in range(len(state.choices))}
    answer = _labelled_option(text, marker, labels)
    if answer is None:
        last_capital = next((letter for letter in reversed(text) if letter.isupper()), "")
        return {last_capital} & labels
    return next((letters for letters in divide(answer) if letters <= labels), set())


def _whole(answer: str) -> list[set[str]]:
    return [{answer}]


def _divide(answer: str) -> list[set[str]]:
    """Return an answer as a list, and as letters in a row: in ``12, 13`` the labels are numbers."""
    listed = _commas(_CONNECTOR.sub(",", answer))
    return [set(listed.split(",")), set(listed.replace(",", ""))]


def _divide_zh(answer: str) -> list[set[str]]:
    listed = _commas(answer)
    return [set(listed.split(",") if "," in listed else listed)]


def _commas(text: str) -> str:
    return re.sub(f"[{_SEPARATORS}]", ",", text.replace(" ", ""))


def _labelled_option(text: str, marker: re.Pattern[str], labels: set[str]) -> str | None:
    """Return what stands after the last marker that has a label after it; None without one."""
    for match in reversed(list(marker.finditer(text))):
        tail = text[match.end() :]
        typeset = _TYPESET.match(tail)
        tail = tail[typeset.end() if typeset else 0 :]
        for form in (_BRACKETED, _PLAIN):
            label = form.match(tail)
            prefix = _label_prefix(label[1], labels) if label else ""
            if prefix:
                return prefix
    return None


def _label_prefix(text: str, labels: set[str]) -> str:
    """Return the front part that holds labels alone, which an ``and`` may part: ``B, not C`` is
    ``B``.
    """

    def is_label(word: str) -> bool:
        return word in labels or set(word) <= labels

    tokens = list(_TOKEN.finditer(text))
    end = 0
    for position, token in enumerate(tokens):
        if is_label(token[0]):
            end = token.end()
            continue
        # "B and C" goes on; "B and not C" ends at B.
        goes_on = position + 1 < len(tokens) and is_label(tokens[position + 1][0])
        if not (end and goes_on and token[0].lower() in ("and", "or")):
            break
    return text[:end]
