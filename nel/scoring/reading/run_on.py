"""Where a base model goes on with an invented next question: its answer ends before that.

A model without training to stop continues the pattern of its prompt. The prompt's own question marker at the start of
a line (``Question:``, ``Q:``, ``Frage:``), or the line that opens the prompt, shows where. Where the prompt has none or
is not known, any such marker after a declared number or formula does. Depends on `nel.types`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from nel.types import ScorerInput

_PROMPT_TAIL: Final = 20_000
"""Characters at the end of a prompt in which its markers are looked for."""
_FIRST_LABEL = re.compile(r"(?m)^[^\S\n]*(?P<word>[^\W\d_][^\n:：]{0,24}?)[^\S\n]*[:：]")
_ENDS_OPEN = re.compile(r"(?:\A|\n)[^\n]{1,60}[:：][^\S\n]*\Z")
"""A prompt that ends with the marker of the answer."""
_OPENING_CHARACTERS_MIN: Final = 20
_WORDS: Final = (
    "question|q|problem|exercise|task|puzzle|input|query|passage|context|statement|sentence|premise|text|review|user|"
    "human|instruction|frage|aufgabe|pregunta|problema|domanda|pergunta|questão|exercice|problème|вопрос|задача|"
    "问题|問題|问|题目|質問|السؤال|سؤال|প্রশ্ন|swali|โจทย์|ప్రశ్న"
)
_MARKER = re.compile(
    rf"(?im)^[^\S\n]*(?P<marks>[#*>\[<]*)[^\S\n]*(?P<word>{_WORDS})(?P<number>[^\S\n]*\d*)[\])]?[^\S\n]*[*]*(?:[:：.]|(?<=[\w*])[^\S\n]*$)"
)
_NEXT_WORDS: Final = (
    "question|q|problem|exercise|instruction|human|user|passage|frage|aufgabe|pregunta|problema|domanda|pergunta|"
    "exercice|problème|вопрос|задача|问题|問題|题目|質問|প্রশ্ন|swali|โจทย์|ప్రశ్న"
)
_NEXT_QUESTION = re.compile(
    rf"""
    (?<=\n) [^\S\n]*+ (?:
        [\[<*_]*+ (?: (?:next|new|another)\s )? (?:{_NEXT_WORDS}) [*_\]>]*+ [^\S\n]? [:：][*_]*+ \s*+ (?=\S)
      | \[ (?:question|problem|user|human|instruction) \]
      | \#{{2,4}}[^\S\n] (?:{_NEXT_WORDS}) [^\S\n]*[:：]?[^\S\n]* (?=\n)
    )
    | (?<=[.!?]\s) (?:problem|question|exercise) : \s (?=\S [^\n]{{10,600}}? [.?!]\s (?:solution|answer) :\s )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ANSWERED = re.compile(
    r"""
      \\boxed\s?\{[^}\n] | \#{4}[^\S\n]?[^\s\#] | <answer>\s*[^\s<]
    | (?: answer | antwort | réponse | respuesta | risposta | resposta | ответ ) \b
      (?: \s\([^()\n]{1,30}\) )? [*_]* (?: \s(?:is|ist|lautet|est|es|è|é)\b[:*_]* | \s?[:：][*_]* )
      [^\n.?!]{0,40} [\d$\\]
    | (?: 答案 | 答え | 答 ) [是为は:：\s*]{1,4} [^\n]{0,40} \d
    | (?: \bjibu\sni | คำตอบคือ | উত্তর | సమాధానం ) [:：\s*]{0,4} [^\n]{0,40} \d
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A number or a formula that is declared as the answer, before an invented next question."""
_ANSWERED_IN_WORDS = re.compile(
    r"""
      \A \s* [(\[*_`]* (?:
          (?: (?-i:[A-J]) | yes | no | true | false ) [)\]*_`.!]* [^\S\n]*
        | (?: yes | no | true | false ) [*_`]* [.,;:!—–-] [^\n]{0,80}
        | (?-i:[A-J]) (?: [)\]*_`]+ [.:]? | [.:] ) [*_`]* \s [^\n]{0,300} ) \n
    | (?: answer | antwort | réponse | respuesta | risposta | resposta | ответ ) \b
      [*_]* (?: \s(?:is|ist|lautet|est|es|è|é)\b[:*_]* | \s?[:：][*_]* )
      \s? [(\[*_]* (?: (?-i:[A-J]) | yes | no | true | false ) (?![^\W_])
      (?! [)\]*_.]* \s* (?: [,/&|→] | (?:or|and|oder|und|ou|et|o|y|e|и|или)\b
          | (?:is|was|would|could|might|may|can|seems|looks)\b ) )
      [^\n]{0,120} \n
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A letter, a yes or a no that opens a response or is declared, before an invented next question."""
_OPTION_LINE = re.compile(r"(?m)^[^\S\n]*[-*•]?[^\S\n]*[(\[*_]*[A-J][)\]*_]*[.:)\]]")
_OPTION_LINES_MAX: Final = 1
"""Of a response that opens with its answer."""
_BEGINS_AGAIN = re.compile(r"\b(?:wait|hold\s+on|hmm|let\s+me|let['’]s|re-?read)\b", re.IGNORECASE)
_OPENING_MAX: Final = 200


def before_next_question(text: str, *, in_words: bool = False) -> str:
    """Return a response up to the first line that opens a question after a declared number or formula.

    One that opens with such a line itself, or has none after its answer, is returned whole.

    Args:
        in_words: A letter, a yes or a no is looked for instead of a number.

    >>> before_next_question("The answer is 7.\\n\\nQ: What is 2 + 2?\\nA: The answer is 4.")
    'The answer is 7.\\n\\n'
    """
    if ":" not in text and "：" not in text and "]" not in text and "##" not in text:
        return text
    answered = None
    for found in _NEXT_QUESTION.finditer(text):
        if answered is None:
            answered = (_ANSWERED_IN_WORDS if in_words else _ANSWERED).search(text)
            if answered is None or _NEXT_QUESTION.match("\n" + text[:_OPENING_MAX].lstrip(), 1):
                return text
            if in_words and answered.start() == 0 and _is_reconsidered(text[: found.start()]):
                return text
        if answered.end() <= found.start():
            return text[: found.start()]
    return text


def _is_reconsidered(text: str) -> bool:
    """Return whether a response goes through the options, or begins again, before it restates the question."""
    return len(_OPTION_LINE.findall(text)) > _OPTION_LINES_MAX or _BEGINS_AGAIN.search(text) is not None


def cut_run_on(response: str, prompt: str) -> str:
    """Return the response up to where the prompt's own question marker, or its opening line, begins again.

    A response that restates the question at its very start is not cut there.

    >>> cut_run_on("B\\n\\nQuestion: What is 2+2?\\nAnswer: C", "Question: Which?\\nAnswer:")
    'B'
    >>> cut_run_on("Question: Which?\\nAnswer: B", "Question: Which?\\nAnswer:")
    'Question: Which?\\nAnswer: B'
    """
    if not prompt or "\n" not in response:
        return response
    pattern, opening = _markers(prompt[:200], prompt[-_PROMPT_TAIL:])
    places = []
    if opening:
        place = response.find("\n" + opening)
        places += [place] if place >= 0 and response[:place].strip() else []
    if pattern is not None:
        for match in pattern.finditer(response):
            if response[: match.start()].strip():
                places.append(match.start())
                break
    return response[: min(places)].rstrip() if places else response


def prompt_of(sample: ScorerInput) -> str:
    """Return what a response answers, an empty text where that is not known, as outside a run."""
    asked = "" if sample.sample is None else sample.sample.input
    return asked if isinstance(asked, str) else "\n\n".join(str(message.content) for message in asked)


def own_answer(sample: ScorerInput) -> tuple[str, dict[str, bool]]:
    """Return the part of a response that answers its own prompt, and whether more followed.

    Returns:
        The text, and ``{"ran_on": …}`` for a scorer to add to its result; nothing where the prompt is not known, as
        outside a run.
    """
    response = sample.response or ""
    if sample.sample is None:
        return response, {}
    cut = cut_run_on(response, prompt_of(sample))
    return cut, {"ran_on": len(cut) < len(response.rstrip())}


def read_own(sample: ScorerInput, read: Callable[[str], str | None]) -> tuple[str | None, dict[str, bool]]:
    """Return what a reader finds in the part of a response that answers its own prompt, else in the whole response.

    Returns:
        What was found, and ``ran_on`` as `own_answer` returns it.

    >>> read_own(ScorerInput(response="It is 7.", target="7"), lambda text: text[-2:-1])
    ('7', {})
    """
    own, ran_on = own_answer(sample)
    response = sample.response or ""
    found = read(own)
    return read(response) if found is None and len(own) < len(response) else found, ran_on


@lru_cache(maxsize=1024)
def _markers(head: str, tail: str) -> tuple[re.Pattern[str] | None, str]:
    """Return a pattern of the question markers at the starts of a prompt's lines, and its opening line."""
    found = {(match["word"], bool(match["number"].strip())) for match in _MARKER.finditer(tail)}
    opening = head.lstrip().partition("\n")[0].rstrip()
    opening = opening if len(opening) >= _OPENING_CHARACTERS_MIN else ""
    words_found = {word for word, _ in found}
    first = _FIRST_LABEL.search(tail)
    if first and _ENDS_OPEN.search(tail):
        words_found.add(first["word"])
    if not words_found:
        return None, opening
    words = "|".join(re.escape(word) for word in sorted(words_found))
    return re.compile(
        rf"(?m)^[^\S\n]*[#*>\[<]*[^\S\n]*(?:{words})[^\S\n]*\d*[\])]?[^\S\n]*[*]*(?:[:：.]|[^\S\n]*$)"
    ), opening
