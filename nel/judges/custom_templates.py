"""Judges built from the text of a template: the user's own, or one from another tool.

Errors of a template and its pattern are reported before any request, as far as they can be known
from their text; a pattern that may match anything only fails on the first reply. Depends on
`nel.prompts` and `nel.judges.parsing`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from nel.core import timed_regex
from nel.errors import DatasetError, JudgeError, PromptError
from nel.judges.pair_templates import FIELDS, pair_judge
from nel.judges.parsing.formats import pattern_reader
from nel.judges.parsing.scale import Scale
from nel.judges.parsing.verdict import grade_reader
from nel.judges.quoting import Quoted, quote
from nel.judges.templates import grade_definitions
from nel.judges.token_grades import token_question
from nel.judges.types import Case, Judge, Question, Read
from nel.prompts import Template, load_template

NAME: Final = "custom"
_LETTERS: Final = {"C": 1.0, "P": 0.5, "I": 0.0}
_MEANINGS: Final = {
    "C": "the response is correct",
    "P": "it is partially correct",
    "I": "it is incorrect",
}
KNOWN_GRADES: Final[Mapping[str, float]] = {
    **_LETTERS,
    "correct": 1.0,
    "incorrect": 0.0,
    "partial": 0.5,
    "yes": 1.0,
    "no": 0.0,
    "true": 1.0,
    "false": 0.0,
    "pass": 1.0,
    "fail": 0.0,
}
"""Scores of grades for a template without ``score_mapping``; a number is its own score."""
_LETTER_SCALE: Final = Scale(_LETTERS)
_REFERENCE: Final = frozenset({"reference", "target", "criterion"})
_CONDITIONAL: Final = re.compile(r"\{%-?\s*if\b[^%]*\b(?:reference|target|criterion)\b")
"""``{% if reference %}``."""
_RESPONSE: Final = frozenset({"response", "answer"})
_LITERAL_START: Final = re.compile(
    r"""
    (?: \(\?[a-z]+\) )?              # inline flags
    (?P<literal>
        (?:
            [^\\.^$*+?{}\[\]|()]      # a character that stands for itself
            | \\[^\w\s]               # an escaped punctuation mark
        )*
    )
    """,
    re.VERBOSE,
)
"""What each match of a pattern begins with: ``GRADE: `` of ``GRADE: ([CI])``."""


def custom_judge(
    text: str,
    *,
    grade_pattern: str | None = None,
    score_mapping: Mapping[str, float] | None = None,
    by_logprobs: bool = False,
) -> Judge:
    """Return the judge of a template: its text, or the name of a text, Markdown or Jinja file.

    Placeholders: ``{response}`` (or ``{answer}``), ``{question}``, ``{reference}`` (or
    ``{target}``, ``{criterion}``), ``{criteria}``, ``{instructions}`` (the grades and their
    definitions), and all keys of the case's values.

    Args:
        text: Names the response, or ``{answer_a}`` and ``{answer_b}`` for a judge of pairs.
        grade_pattern: Its first group is the grade; None: a line ``GRADE: X``.
        score_mapping: Grade to score; None: C 1, P 0.5, I 0, or for a pattern the known grades that
            it can match.
        by_logprobs: Grade by the probabilities of the grades as the first token; needs
            `score_mapping`, no pattern.

    Raises:
        JudgeError: ``bad_template``: template or pattern is not valid, or a grade has no score.
    """
    if by_logprobs and (grade_pattern is not None or not score_mapping):
        raise _bad(
            "grades by log-probabilities need a score_mapping of the tokens that are grades, such"
            " as {m: 1, M: 0}, and no grade_pattern"
        )
    template = _load(text, grade_pattern)
    if template.fields >= FIELDS:
        return pair_judge(
            template,
            grade_pattern=grade_pattern,
            score_mapping=score_mapping,
            by_logprobs=by_logprobs,
        )
    if not template.fields & _RESPONSE:
        raise _bad(
            "the judge's template does not name the response; insert {response} where it belongs"
        )
    scale = _scale(grade_pattern, score_mapping)
    reader = _reply_reader(template, grade_pattern, scale)

    def ask(case: Case) -> list[Question]:
        quoted = _quote(template, case, scale)
        if by_logprobs:
            return [token_question(quoted.prompt, score_mapping or {})]
        return [Question(prompt=quoted.prompt, read=reader(quoted))]

    # A template that asks whether there is a reference can do without one.
    is_conditional = _CONDITIONAL.search(template.text) is not None
    return Judge(
        name=NAME,
        description="A custom template",
        ask=ask,
        example_reply=_example_reply(scale),
        level="ordinal" if scale is None or scale.is_numeric else "nominal",
        needs_reference=bool(template.fields & _REFERENCE) and not is_conditional,
    )


def _reply_reader(
    template: Template, grade_pattern: str | None, scale: Scale | None
) -> Callable[[Quoted], Read]:
    """Return what reads the replies to a prompt: by the pattern, else by a line ``GRADE: X``.

    Raises:
        JudgeError: The pattern has no group, and its whole match is never a grade.
    """
    if grade_pattern is None:
        scores = {} if scale is None else scale.scores
        return lambda quoted: grade_reader(quoted, scores)
    if _never_grades(grade_pattern, scale):
        raise _bad(
            f"the pattern {grade_pattern[:200]!r} has no group, and its whole match is never a"
            ' grade; enclose the grade in parentheses, as in "GRADE: ([CI])"'
        )
    # Where the prompt ends with the words before the grade, a reply begins with the grade itself.
    prefix = _literal_start(grade_pattern)
    if not template.text.rstrip().endswith(prefix):
        prefix = ""
    return lambda quoted: pattern_reader(quoted, grade_pattern, scale, prefix=prefix)


def _example_reply(scale: Scale | None) -> str:
    grade = "1" if scale is None else max(scale.scores, key=scale.scores.__getitem__)
    return f"GRADE: {grade}"


def _load(text: str, grade_pattern: str | None) -> Template:
    try:
        template = load_template(text, name="judge")
        if grade_pattern is not None:
            timed_regex.compile_pattern(grade_pattern)
    except (PromptError, DatasetError) as error:
        raise _bad(f"the judge's template cannot be used: {error}") from error
    return template


def _bad(message: str) -> JudgeError:
    return JudgeError(message, kind="bad_template")


def _quote(template: Template, case: Case, scale: Scale | None) -> Quoted:
    grades = {
        label: _MEANINGS.get(label, f"its score is {score:g}")
        for label, score in (scale or _LETTER_SCALE).scores.items()
    }
    instructions = case.values.get("instructions")
    if not isinstance(instructions, str):
        instructions = f'{grade_definitions(grades)}\n\nEnd with one line in the form "GRADE: X".'
    pieces: dict[str, object] = {
        **case.values,
        "response": case.response,
        "answer": case.response,
        "question": case.question,
        "reference": case.reference,
        "target": case.reference,
        "criterion": case.reference,
    }
    return quote(
        template, pieces, trusted={"criteria": case.criteria, "instructions": instructions}
    )


def _scale(pattern: str | None, mapping: Mapping[str, float] | None) -> Scale | None:
    """Return the grades and their scores; None where the grade is a number, its own score."""
    if mapping is not None:
        return Scale(mapping)
    if pattern is None:
        return Scale(_LETTERS)
    grades = _grades_of(pattern)
    if grades is None:
        # A group such as ``\d+``, ``[0-9.]+`` or ``[1-5]`` matches numbers.
        matches_numbers = re.search(r"\\d|0-9|\d", _group(pattern)) is not None
        return None if matches_numbers else Scale(KNOWN_GRADES)
    scores = {
        grade: KNOWN_GRADES.get(grade, KNOWN_GRADES.get(grade.casefold())) for grade in grades
    }
    grades_without_score = sorted(grade for grade, score in scores.items() if score is None)
    if grades_without_score:
        raise _bad(
            f"the grade {grades_without_score[0]!r} of the pattern {pattern[:200]!r} has no score; give"
            " score_mapping"
        )
    return Scale({grade: score for grade, score in scores.items() if score is not None})


def _group(pattern: str) -> str:
    """Return the text of the first group that captures, ``[CI]`` of ``GRADE: ([CI])``; the whole
    pattern where it has none.
    """
    # "(" or "(?P<name>", neither "\(" nor "(?:".
    match = re.search(r"(?<!\\)\((?:\?P<\w+>|(?!\?))", pattern)
    if match is None:
        return pattern
    depth = 1
    for bracket in re.finditer(r"(?<!\\)[()]", pattern[match.end() :]):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return pattern[match.end() : match.end() + bracket.start()]
    return pattern[match.end() :]


def _grades_of(pattern: str) -> list[str] | None:
    """Return the grades that a pattern can match, None where its text does not list them."""
    group = _group(pattern)
    if re.fullmatch(r"\[[A-Za-z]+\]", group):  # [CI]
        return list(group[1:-1])
    if re.fullmatch(r"\[[A-Z]-[A-Z]\]", group):  # [A-E]
        return [chr(code) for code in range(ord(group[1]), ord(group[3]) + 1)]
    words = group.split("|")  # correct|incorrect
    is_words = all(re.fullmatch(r"[A-Za-z][A-Za-z _-]*", word) for word in words)
    return words if is_words else None


def _never_grades(pattern: str, scale: Scale | None) -> bool:
    """Return whether the match itself is the grade, and begins as no grade does."""
    start = _literal_start(pattern)
    if not start or _group(pattern) != pattern:
        return False
    if scale is None:
        return not start[0].isdigit() and start[0] not in "+-."
    return not any(label.casefold().startswith(start.casefold()) for label in scale.scores)


def _literal_start(pattern: str) -> str:
    start = _LITERAL_START.match(pattern)
    if start is None:
        return ""
    text = start["literal"]
    if pattern[start.end() :][:1] in {"*", "?", "{"}:  # these make the last character optional
        text = text[:-1]
    return re.sub(r"\\(.)", r"\1", text).strip()
