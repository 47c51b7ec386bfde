"""Grades from the log-probabilities of a reply's first token: the expected score of its grades.

Over the grades t among the alternatives for the first token::

    score = sum of p(t) score(t) / sum of p(t)

That is the preference of AlpacaEval 2 (its ``logprob_parser`` with the tokens m and M; Dubois et
al. 2024, arXiv 2404.04475) and the weighted score of G-Eval (Liu et al. 2023, arXiv 2303.16634). A
grade that is not among the alternatives has the probability 0. Depends on `nel.judges.types` alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Final, NoReturn

from nel.errors import JudgeError
from nel.judges.types import Grade, Question, ReadTokens

PROBABILITY: Final = "grade_probability"
"""The metric with the probability, from 0 to 1, that the first token was a grade at all."""
NO_LOGPROBS: Final = "no_logprobs"
_ALTERNATIVES_MIN: Final = 5
"""As AlpacaEval asks for."""
_ALTERNATIVES_MAX: Final = 20
"""The most that OpenAI's API gives."""
_SPACES: Final = " \t\n\u0120\u2581"
"""What tokenizers write before a word: spaces, the marks of byte-level BPE and SentencePiece."""


def token_question(
    prompt: str,
    scores: Mapping[str, float],
    *,
    label: str = "",
    read_tokens: ReadTokens | None = None,
) -> Question:
    """Return a question whose reply is one token: a grade of a scale.

    Args:
        scores: Of each grade.
        label: Of the question.
        read_tokens: Reads the grade off the log-probabilities; `grade_of_tokens` of the scale when
            not given.
    """
    return Question(
        prompt=prompt,
        label=label,
        read=without_logprobs,
        read_tokens=read_tokens or partial(grade_of_tokens, scores),
        top_logprobs=min(max(_ALTERNATIVES_MIN, len(scores)), _ALTERNATIVES_MAX),
        settings={"max_tokens": 1},
        is_quick=True,
    )


def grade_of_tokens(scores: Mapping[str, float], logprobs: Mapping[str, float]) -> Grade:
    """Return the expected score of the first token, with the most likely grade as its label.

    Tokens are compared as they are; only where none of them is a grade, without the space before
    them.

    Args:
        scores: Of each grade.
        logprobs: Of each alternative for the first token, natural logarithm.

    Raises:
        JudgeError: ``no_verdict``: no alternative is a grade.

    >>> round(grade_of_tokens({"m": 1.0, "M": 0.0}, {"M": -0.1, "m": -2.4}).score, 6)
    0.091123
    """
    grades = {token: value for token, value in logprobs.items() if token in scores}
    if not grades:
        for token, value in logprobs.items():
            grade = token.strip(_SPACES)
            if grade in scores:
                # The probabilities of "A" and " A" add up; their logarithms may be far below 0.
                larger, smaller = sorted((value, grades.get(grade, -math.inf)), reverse=True)
                grades[grade] = larger + math.log1p(math.exp(smaller - larger))
    if not grades:
        tokens = ", ".join(map(repr, list(logprobs)[:5]))
        raise JudgeError(
            f"none of the grades {', '.join(scores)} is among the first tokens {tokens}",
            kind="no_verdict",
        )
    # Relative to the largest, so that no weight underflows to 0 where all are small.
    largest = max(grades.values())
    weights = {token: math.exp(value - largest) for token, value in grades.items()}
    total = math.fsum(weights.values())
    score = math.fsum(weight * scores[token] for token, weight in weights.items()) / total
    probability = min(1.0, total * math.exp(min(largest, 0.0)))
    return Grade(
        label=max(grades, key=grades.__getitem__), score=score, metrics={PROBABILITY: probability}
    )


def without_logprobs(reply: str) -> NoReturn:
    """Refuse a reply that came without log-probabilities, whatever it says."""
    raise JudgeError(
        "the judge's reply has no log-probabilities; ask a server that gives them, or leave"
        " judge.grade_logprobs out",
        kind=NO_LOGPROBS,
        reply=reply,
    )
