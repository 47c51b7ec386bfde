"""A response as the readers see it: only its own turn, in the same length, so that positions hold.

Its reasoning was split from it where it arrived. End tokens become spaces; typographic variants of
a character become the plain one. The text ends where an end token stands, or where the question
marker of the prompt opens a line again, since a base model goes on with a question of its own.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from nel.reading.asked import AskedForm
from nel.reading.table import end_tokens

# ``<|im_start|>assistant``, ``<|start_header_id|>`` and the like, with the role that follows; and
# what opens an answer of Inkling, Kimi K3 and Apriel.
_START_TOKEN: Final = re.compile(
    r"<\|[^<>|\s]*(?:start|begin|sep|header|message_|content_)[^<>|\s]*\|>"
    r"(?:\s*(?:assistant|model)\b)?|<\|open\|>response<\|sep\|>|\[BEGIN FINAL RESPONSE\]",
    re.IGNORECASE,
)
_END_TOKEN: Final = re.compile("|".join(map(re.escape, end_tokens())), re.IGNORECASE)
_WORD: Final = re.compile(r"\w")
_PROMPT_TAIL: Final = 20_000
"""Characters at the end of a prompt in which its question markers are searched."""
_QUESTION_WORDS: Final = (
    "question|q|problem|exercise|task|input|passage|context|statement|sentence|premise|text|user|human|instruction|"
    "frage|aufgabe|pregunta|problema|pergunta|questão|exercice|problème|вопрос|задача|问题|問題|问|题目|质询|句子|"
    "请你回答|প্রশ্ন|swali|โจทย์|ప్రశ్న"
)
_MARKER: Final = re.compile(
    rf"(?i)\n[^\S\n]*(?P<dressing>[#*>\[<]*)[^\S\n]*(?P<word>{_QUESTION_WORDS})[^\S\n]*"
    r"(?P<number>\d*)[\])]?[*]*[^\S\n]*[:：]"
)
"""It begins with the break before its line, since the search then skips to one."""
_AROUND: Final = " \t*_`\"'“”"
_LINE_MAX: Final = 1_000
"""Characters of a line that is looked for in the prompt."""
_TURN: Final = re.compile(r"(?m)^[^\S\n]*(?:Q|Question|Problem|Human|User|Instruction)[^\S\n]?\d*:")
_TURN_NEEDS: Final = ("Q", "Problem", "Human", "User", "Instruction")
"""One of them stands wherever `_TURN` matches; looking for them takes a tenth of the time."""
_ANSWER_TURN: Final = re.compile(r"(?m)^[^\S\n]*A:")

USUAL_MARKS: Final = {
    **dict.fromkeys("‘’ʼ´ʻ", "'"),
    **dict.fromkeys("“”„‟«»「」『』", '"'),
    **dict.fromkeys("−‐‑‒﹣", "-"),
}
"""The plain quotation mark, apostrophe or hyphen for typographic ones."""


def _plain_character(character: str) -> str:
    # The full-width forms of ASCII stand in the order of ASCII, at a constant distance.
    if "\uff01" <= character <= "\uff5e":
        return chr(ord(character) - 0xFEE0)
    is_blank = unicodedata.category(character) in ("Cf", "So", "Zs")
    return " " if is_blank else USUAL_MARKS.get(character, character)


class _PlainCharacters(dict[int, str]):
    """The plain character of each character, computed when it first occurs."""

    def __missing__(self, code: int) -> str:
        self[code] = character = _plain_character(chr(code))
        return character


_PLAIN: Final = _PlainCharacters()


def fold(text: str) -> str:
    """Return a text of the same length with plain characters for full-width and curly ones.

    >>> fold("答案：Ｂ\u200b")
    '答案:B '
    """
    return text if text.isascii() else text.translate(_PLAIN)


def lower_case(text: str) -> str:
    """Return a text in small letters and of the same length."""
    small = text.lower()
    if len(small) != len(text):  # a few letters, such as İ, grow when lowered
        small = "".join(low if len(low := mark.lower()) == 1 else mark for mark in text)
    return small


class Answer:
    """The part of a response that answers its prompt."""

    __slots__ = ("asked", "low", "plain", "prompt", "text")

    def __init__(self, text: str, asked: AskedForm | None = None, prompt: str = "") -> None:
        """Take the part as received, with end tokens and what follows them as spaces or cut off.

        Args:
            text: The part.
            asked: The form that the prompt asks for, where the benchmark declares it.
            prompt: What the response answers, empty where that is not known.
        """
        self.text = text
        self.asked = asked
        self.prompt = prompt
        self.plain = fold(text).replace("**", "  ").replace("`", " ")
        """The text folded, without emphasis, in the same length."""
        self.low = lower_case(self.plain)
        """The plain text in small letters."""


def own_response(text: str, prompt: str = "", asked: AskedForm | None = None) -> Answer:
    """Return the part of a response that answers its own prompt; positions do not change.

    Args:
        text: The response, whole.
        prompt: What it answers, empty where that is not known.
        asked: The form that the prompt asks for.
    """
    turn = _own_turn(text) if "<" in text or "[" in text else text  # as each token has
    return Answer(before_next_question(turn, prompt), asked, prompt)


def _own_turn(text: str) -> str:
    """Return a text up to its first end token after a word; tokens before it become spaces."""
    text = _START_TOKEN.sub(_spaces, text)
    start = 0
    for token in _END_TOKEN.finditer(text):
        if _WORD.search(text, start, token.start()):
            return text[: token.start()]
        start = token.end()
    return _END_TOKEN.sub(_spaces, text)


def _spaces(token: re.Match[str]) -> str:
    return " " * len(token[0])


def before_next_question(response: str, prompt: str) -> str:
    """Return a response up to where the prompt's own question marker opens a line again.

    A response that restates a line of the prompt, or the question at its very start, is not cut
    there.

    >>> before_next_question("B\\n\\nQuestion: What is 2+2?\\nAnswer: C", "Question: Which?\\nAnswer:")
    'B'
    """
    if "\n" not in response.strip() or not prompt:
        return response
    word = _WORD.search(response)
    markers = [] if word is None else list(_MARKER.finditer(response, word.end()))
    if not markers:
        return response
    # Only a marker that the prompt has, dressed alike ("### Q:"), opens the next question.
    of_prompt = _markers_of(prompt)
    words = {marker.group("dressing", "word") for marker in of_prompt}
    # "Input 2:" is one of the prompt, where that has two; "Input 5:" is another question.
    numbers = {marker["number"] for marker in of_prompt if marker["number"]}
    for marker in markers:
        if marker.group("dressing", "word") not in words or marker["number"] in numbers:
            continue
        line = response[marker.end() : marker.end() + _LINE_MAX].partition("\n")[0].strip(_AROUND)
        # A line of the prompt is restated, and no question of the model's own.
        if not line or f"{line}\n" not in f"{prompt}\n":
            return response[: marker.start()].rstrip()
    return response


def last_question(prompt: str) -> str:
    """Return the question of a prompt without the worked examples before it.

    >>> last_question("Q: 1 + 1?\\nA: 2\\nQ: 3 + 4?\\nA:")
    'Q: 3 + 4?\\nA:'
    """
    start = max((marker.start() for marker in _markers_of(prompt)), default=0)
    return prompt[-_PROMPT_TAIL:][start:]


def _markers_of(prompt: str) -> list[re.Match[str]]:
    """Return the question markers at the end of a prompt, by their places in it."""
    return list(_MARKER.finditer(f"\n{prompt[-_PROMPT_TAIL:]}"))


def invented_turn(text: str) -> int | None:
    """Return where a line opens another question, or a second ``A:`` another answer, or None."""
    if "\n" not in text or ":" not in text:
        return None
    starts: list[int] = []
    if any(map(text.__contains__, _TURN_NEEDS)):
        starts += [match.start() for match in _TURN.finditer(text) if match.start()]
    if text.count("A:") > 1:
        starts += [match.start() for match in list(_ANSWER_TURN.finditer(text))[1:]]
    return min(starts, default=None)
