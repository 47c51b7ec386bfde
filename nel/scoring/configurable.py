"""Scorers that are configured where they are used, such as ``match(location="any", numeric=True)``.

Source: Inspect's scorers of the same names, point by point, with known faults corrected: numbers
are compared exactly and not to five digits, ``42!``, ``(42)``, ``$B$`` and ``**B**`` are read, and
an empty target is a bad row, no match. Each builds a scorer that gives a `Score` of C, I or N (or a
number). Depends on the scorer protocol, the number reader and `nel.reading.letters`.

Note: `f1` and `exact` here follow Inspect (sets of words, two decimals), while
`nel.byob.scorers.f1_token` follows SQuAD (multisets, full precision).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Literal

from nel.core.timed_regex import compile_pattern, search
from nel.errors import ConfigError, DatasetError
from nel.metrics import accuracy, mean, stderr
from nel.reading.letters import LetterReader, chosen_labels, labels_for
from nel.reading.numerals import parse_number
from nel.reading.response import Answer, own_response
from nel.scoring.gold_choices import labels_of, letters_gold, letters_in
from nel.scoring.golds import reads_gold, text_gold, texts_in
from nel.scoring.locations import Location, match_at
from nel.scoring.protocol import scorer
from nel.scoring.states import Target, TaskState
from nel.scoring.tokens import f1_of
from nel.scoring.words import fold, has_word, normalise, same_text
from nel.types import CORRECT, INCORRECT, NOANSWER, Score, Scorer

_LOCATIONS: Final = ("begin", "end", "any", "exact")
_DECLARED = re.compile(r"(?is).*answer[\s*_]*[:：][^\S\n]*")
"""Up to the last marker of a response."""
_EMPHASIS: Final = "*_`$ \t"
_PAIRS: Final = tuple(
    pair.split()
    for pair in (
        r"\( \)",
        r"\[ \]",
        r"\boxed{ }",
        r"\text{ }",
        "( )",
        "[ ]",
        "{ }",
        '" "',
        "' '",
        "“ ”",
        "‘ ’",
    )
)
"""What may stand around an answer."""
_LETTERS: Final = labels_for(26)
_DIGIT: Final = re.compile(r"\d")


@scorer(metrics=[accuracy(), stderr()], in_process=True)
def match(location: Location = "end", *, ignore_case: bool = True, numeric: bool = False) -> Scorer:
    """Match the target at the beginning or end of the response, anywhere in it, or as all of it.

    Rule: outer spaces and punctuation do not count, but for marks with a meaning (``A-``, ``C#``,
    ``5%``). A target of marks alone stands apart from words. With `numeric`,
    the number there is compared with the target exactly: ``$1,234.50``, ``42!``, ``(42)``,
    ``１２３`` and ``½`` are numbers, and so are the two sides of ``x=42``. A target that is not a
    number ("60%") is compared as text. Source: Inspect's ``match``. Any of several targets counts.

    Args:
        location: ``begin``, ``end``, ``any`` or ``exact``.
        ignore_case: Capitals do not count.
        numeric: Compare numbers as numbers.

    Raises:
        ConfigError: The location is unknown.
        DatasetError: While scoring: a target is empty.

    >>> from nel.types import ScorerInput
    >>> match(numeric=True)(ScorerInput(response="The total is $123,457.", target="123456")).value
    'I'
    >>> match("any", numeric=True)(ScorerInput(response="(42) is it", target="42")).value
    'C'
    """
    if location not in _LOCATIONS:
        raise ConfigError(f'the location "{location}" is unknown; use {", ".join(_LOCATIONS)}')

    @reads_gold(text_gold)
    def score(state: TaskState, target: Target) -> Score:
        completion = state.output.completion
        answer: str | None = None
        for text in texts_in(list(target)):
            is_match, answer = match_at(
                completion, text, location, ignore_case=ignore_case, numeric=numeric
            )
            if is_match:
                return Score(value=CORRECT, answer=answer, explanation=completion)
        return Score(value=INCORRECT, answer=answer, explanation=completion)

    return score  # type: ignore[return-value]


@scorer(metrics=[accuracy(), stderr()], in_process=True)
def includes(ignore_case: bool = True) -> Scorer:
    """Look for the target anywhere in the response.

    Rule: substring, after ``casefold`` of both where capitals do not count. Source: Inspect's
    ``includes``.

    Raises:
        DatasetError: While scoring: a target is empty.

    >>> from nel.types import ScorerInput
    >>> includes()(ScorerInput(response="It is PARIS", target="paris")).value
    'C'
    """

    @reads_gold(text_gold)
    def score(state: TaskState, target: Target) -> Score:
        completion = state.output.completion
        prepare = str.casefold if ignore_case else str
        text = prepare(completion)
        is_match = any(prepare(sought) in text for sought in texts_in(list(target)))
        return Score(value=CORRECT if is_match else INCORRECT, answer=completion)

    return score  # type: ignore[return-value]


@scorer(metrics=[accuracy(), stderr()], in_process=True)
def pattern(pattern: str, ignore_case: bool = True, match_all: bool = False) -> Scorer:
    """Take the answer out of the response with a regular expression.

    Rule: one search; a group that equals a target counts, or with `match_all` every group that took
    part must. No match is not an answer (N). Source: Inspect's ``pattern``. The search is aborted
    after 2 s, and the sample is then unscored.

    Raises:
        ConfigError: The pattern is not a regular expression or has no group.
        ScorerError: While scoring: the search takes too long.

    >>> from nel.types import ScorerInput
    >>> pattern(r"result: (\\w+)")(ScorerInput(response="result: Seven.", target="seven")).answer
    'Seven'
    """
    try:
        groups = compile_pattern(pattern, ignore_case=ignore_case).groups
    except DatasetError as error:
        raise ConfigError(str(error)) from error
    if groups == 0:
        raise ConfigError(
            f"the pattern {pattern!r} has no group to compare; put parentheses around the answer"
        )

    @reads_gold(text_gold)
    def score(state: TaskState, target: Target) -> Score:
        completion, targets = state.output.completion, texts_in(list(target))
        match = search(pattern, completion, ignore_case=ignore_case)
        if match is None:
            return Score(value=NOANSWER, answer=None, explanation=completion)
        captured = [group for group in match.groups() if group is not None]
        answer = _accepted_text(captured, targets, ignore_case=ignore_case, match_all=match_all)
        if answer is not None:
            return Score(value=CORRECT, answer=answer, explanation=completion)
        first_group = captured[0] if groups == 1 and captured else None
        return Score(value=INCORRECT, answer=first_group, explanation=completion)

    return score  # type: ignore[return-value]


@scorer(metrics=[accuracy(), stderr()], in_process=True)
def answer(pattern: Literal["letter", "word", "line"]) -> Scorer:
    """Compare what follows the last ``ANSWER:``, a letter, a word or the rest of the line.

    Rule: capitals, emphasis, brackets, dollar signs and ``\\\\boxed{}`` around it do not count, nor
    does a final full stop; nothing there is no answer (N), and so are two letters.

    Source: Inspect's ``answer``, which cannot read ``ANSWER: **B**``.

    Raises:
        ConfigError: The kind of answer is unknown.

    >>> from nel.types import ScorerInput
    >>> answer("letter")(ScorerInput(response="Hm.\\nANSWER: **B**", target="B")).value
    'C'
    >>> answer("word")(ScorerInput(response="ANSWER: Yes then more", target="Yes")).value
    'N'
    """
    takers: dict[str, Callable[[str], str | None]] = {
        "letter": _letter,
        "word": _word,
        "line": _line,
    }
    if pattern not in takers:
        raise ConfigError(f'the kind of answer "{pattern}" is unknown; use letter, word or line')
    take = takers[pattern]

    @reads_gold(text_gold)
    def score(state: TaskState, target: Target) -> Score:
        completion, accepted = state.output.completion, texts_in(list(target))
        answer_text = take(fold(completion))
        if answer_text is None:
            return Score(value=NOANSWER, answer=None, explanation=completion)
        texts = [_bare(fold(text)).casefold() for text in accepted]
        value = CORRECT if answer_text.casefold() in texts else INCORRECT
        return Score(value=value, answer=answer_text, explanation=completion)

    return score  # type: ignore[return-value]


@scorer(metrics=[accuracy(), stderr()], in_process=True)
def choice() -> Scorer:
    """Compare the letters a multiple-choice response chooses with the target letters; all of them,
    and no other, count.

    Rule: the last ``ANSWER: X`` or ``ANSWER: A, C``, else an answer in any form. A target is a
    letter, a list of letters or ``"AC"``; beyond Z labels go on as 1, 2, …. Source: Inspect's
    ``choice`` with its ``multiple_choice`` solver.

    Raises:
        DatasetError: While scoring: the target is not a letter of a choice.

    >>> from nel.types import ScorerInput
    >>> choice()(ScorerInput(response="ANSWER: C and A", target=["A", "C"])).value
    'C'
    """

    @reads_gold(letters_gold)
    def score(state: TaskState, target: Target) -> Score:
        completion = state.output.completion
        labels = labels_of(state.sample, state.choices)
        texts = list(state.choices) or None
        gold = letters_in(list(target), labels)
        response = own_response(completion)
        answer = chosen_labels(response, labels, texts)
        if not answer:
            return Score(value=NOANSWER, answer=None, explanation=completion)
        value = CORRECT if answer == gold else INCORRECT
        return Score(value=value, answer=", ".join(answer), explanation=completion)

    return score  # type: ignore[return-value]


@scorer(metrics=[mean(), stderr()], in_process=True)
def f1(
    answer_fn: Callable[[str], str] | None = None, stop_words: Sequence[str] | None = None
) -> Scorer:
    """Give the F1 of the words that response and target share, the best of several targets.

    Rule: sets (not multisets) of normalised words, rounded to two decimals; words are casefolded,
    lose punctuation without a meaning, and numbers are written alike (``3,000`` is ``3000.0``). An
    article before another word is dropped; "A" alone, or "Vitamin A", has none. Emoji do not count.
    Source: Inspect's ``f1``, which drops every article, sign and symbol; SQuAD's own is
    `nel.byob.scorers.f1_token`.

    Args:
        answer_fn: Takes the answer out of the response.
        stop_words: Words that do not count.

    >>> from nel.types import ScorerInput
    >>> f1()(ScorerInput(response="the big cat", target="cat")).value
    0.67
    """
    stopped = set(_words_of(" ".join(stop_words or ())))

    @reads_gold(text_gold)
    def score(state: TaskState, target: Target) -> Score:
        text = answer_fn(state.output.completion) if answer_fn else state.output.completion
        accepted = texts_in(list(target))
        words = set(_words_of(text)) - stopped
        highest = 0.0
        for gold in accepted:
            if not has_word(gold) or text.strip() == gold.strip():
                value = float(same_text(text, gold))
            else:
                gold_words = set(_words_of(gold)) - stopped
                value = f1_of(len(words & gold_words), len(words), len(gold_words))
            highest = max(highest, value)
        return Score(value=round(highest, 2), answer=text)

    return score  # type: ignore[return-value]


@scorer(metrics=[mean(), stderr()], in_process=True)
def exact() -> Scorer:
    """Compare response and target after normalising each word, any of several targets.

    Rule: as `f1` normalises, in order; brackets count where both have some, and a target of marks
    alone equals the same marks.

    Source: Inspect's ``exact``, where "a" equals "an", "50%" equals "50" and "C#" equals "C".

    >>> from nel.types import ScorerInput
    >>> exact()(ScorerInput(response="The Beatles!", target="beatles")).value
    'C'
    >>> exact()(ScorerInput(response="**A**", target="A")).value, exact()(ScorerInput(response="A-", target="A")).value
    ('C', 'I')
    """

    @reads_gold(text_gold)
    def score(state: TaskState, target: Target) -> Score:
        completion = state.output.completion
        accepted = texts_in(list(target))
        words = _words_of(completion)
        is_equal = any(
            words == _words_of(gold) if has_word(gold) else same_text(completion, gold)
            for gold in accepted
        )
        return Score(value=CORRECT if is_equal else INCORRECT, answer=completion)

    return score  # type: ignore[return-value]


def _accepted_text(
    captured: Sequence[str], targets: Sequence[str], *, ignore_case: bool, match_all: bool
) -> str | None:
    """Return the captured text that is a target, all targets joined where all must be, or None."""
    prepare = str.casefold if ignore_case else str
    accepted = set(map(prepare, targets))
    matches = [group for group in captured if prepare(group) in accepted]
    if match_all:
        return "".join(targets) if captured and len(matches) == len(captured) else None
    return matches[0] if matches else None


def _after_marker(text: str) -> str | None:
    marker = _DECLARED.match(text)
    return None if marker is None else text[marker.end() :]


def _letter(text: str) -> str | None:
    answer = _after_marker(text) or ""
    value = LetterReader(_LETTERS).opening(Answer(answer), 0, len(answer))
    return None if value is None or value.answer is None or "," in value.answer else value.answer


def _word(text: str) -> str | None:
    line = _line(text)
    return line if line is not None and len(line.split()) == 1 else None


def _line(text: str) -> str | None:
    answer = _after_marker(text)
    return None if answer is None else _bare(answer.strip().split("\n", 1)[0]) or None


def _bare(text: str) -> str:
    """Return a short answer without emphasis, box, enclosing brackets and final punctuation."""
    content = text.strip().rstrip(".,;:!?").strip(_EMPHASIS).rstrip(".,;:!?")
    for opening, closing in _PAIRS:
        within = content[len(opening) : len(content) - len(closing)]
        if (
            content.startswith(opening)
            and content.endswith(closing)
            and _encloses(opening[-1], closing[-1], within)
        ):
            content = within.strip(_EMPHASIS)
    return content


def _encloses(opening: str, closing: str, content: str) -> bool:
    """Return whether the marks around a text are one pair, unlike those of ``(a) and (b)``."""
    depth = 0
    for character in content if opening != closing else "":
        depth += (character == opening) - (character == closing)
        if depth < 0:
            return False
    return True


def _words_of(text: str) -> list[str]:
    """Return the words of a text, a number as its exact value: "3,000" is "3000.0"."""
    return [_number_of(word) for word in normalise(text).split()]


@lru_cache(maxsize=65_536)
def _number_of(word: str) -> str:
    number = parse_number(word, numeral_only=True) if _DIGIT.search(word) else None
    return word if number is None else str(number)
