"""The demo model: answers the quickstart problems with a given accuracy, speed and fault rates.

Random draws are seeded by (seed, prompt, request seed), those of faults also by how often the
prompt was seen: two servers with the same options behave the same. A restart of the server repeats
the faults of a prompt; its answers never change.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import orjson
from aiohttp import web

from nel.apps.mock.behaviour import Behaviour, EmbeddedAnswerer
from nel.apps.mock.phrasing import (
    PhrasedProblem,
    cut_in_the_middle,
    phrase,
    problem_in,
    right_answer,
    unknown,
    wrong_answer,
)
from nel.apps.mock.request_parsing import Query
from nel.apps.mock.routes import create_app
from nel.apps.mock.tokens import TokenLogprob, tokenise

_SENTENCES: Final = (
    "The capital of France is Paris.",
    "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday",
)
"""The sentences, beside its problems, that are likely to the model; `nel.models.echo_probe` uses
them to tell whether log-probabilities of a prompt are real.
"""
_SPAN: Final = 3
"""A token is likely after the two that precede it in a sentence."""


def _likely_spans() -> Iterator[tuple[str, ...]]:
    for sentence in _SENTENCES:
        tokens = tokenise(sentence)
        for at in range(len(tokens) - _SPAN + 1):
            yield tuple(tokens[at : at + _SPAN])


_LIKELY_SPANS: Final = frozenset(_likely_spans())


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions(Behaviour):
    """How the demo model behaves."""

    accuracy: float = 0.8
    """Chance that a problem is answered right."""
    truncation_rate: float = 0.0
    """Chance that an answer stops in the middle with finish reason ``length``."""


class DemoAnswerer(EmbeddedAnswerer):
    """Answers quickstart problems; see `DemoOptions`."""

    def __init__(self, options: DemoOptions) -> None:
        self.options = options
        self._problems = load_problems()
        super().__init__(options)

    def logprobs(
        self, query: Query, prompt: Sequence[str], completion: Sequence[str]
    ) -> list[TokenLogprob]:
        """Return high log-probabilities for an answer it believes and for its sentences."""
        belief_start = len(prompt) - self._n_believed_tokens(query, prompt)
        logprobs = []
        for at, token in enumerate(prompt):
            span = tuple(prompt[max(0, at + 1 - _SPAN) : at + 1])
            is_likely = at >= belief_start or span in _LIKELY_SPANS
            logprobs.append(_likely(token) if is_likely else self._unlikely(token, at))
        return [*logprobs, *map(_likely, completion)]

    def _text(self, query: Query, draw: random.Random) -> tuple[str, bool]:
        problem = problem_in(self._problems, query.text)
        if problem is None:
            return unknown(draw), False
        answer, right = self._belief(problem, query)
        text = phrase(problem, answer, right, draw)
        if draw.random() < self.options.truncation_rate:
            return cut_in_the_middle(text, draw), True
        return text, False

    def _belief(
        self, problem: PhrasedProblem, query: Query, *, per_problem: bool = False
    ) -> tuple[str, str]:
        draw = self._draw("belief", problem.question if per_problem else query.text, query.seed)
        right = right_answer(problem, query.text)
        if draw.random() < self.options.accuracy:
            return right, right
        answers = [other.answer for other in self._problems if other.kind == problem.kind]
        return wrong_answer(problem, right, answers, draw), right

    def _n_believed_tokens(self, query: Query, prompt: Sequence[str]) -> int:
        """Return how many tokens at the end of the prompt are the answer that the model believes.

        In a ranking of choices each prompt ends with one of them, hence the draw per problem.
        """
        problem = problem_in(self._problems, query.text)
        if problem is None:
            return 0
        answer, right = self._belief(problem, query, per_problem=True)
        spellings = [answer]
        if problem.kind == "choice":
            option = problem.answer if answer == right else answer
            spellings.append(problem.choices["ABCDE".index(option)])
        for count in range(1, min(len(prompt), 12) + 1):
            if "".join(prompt[-count:]).strip() in spellings:
                return count
        return 0

    def _unlikely(self, token: str, at: int) -> TokenLogprob:
        draw = self._draw("token", token, at)
        return TokenLogprob(
            token=token,
            logprob=-round(draw.uniform(2.0, 6.0), 4),
            alternative=(" well", -round(draw.uniform(0.2, 1), 4)),
        )


def _likely(token: str) -> TokenLogprob:
    return TokenLogprob(token=token, logprob=-0.01 * (1 + len(token) % 3))


def demo_app(options: DemoOptions) -> web.Application:
    """Return the application that serves the demo model."""
    return create_app(DemoAnswerer(options), model=options.model, api_key=options.api_key)


def load_problems() -> list[PhrasedProblem]:
    """Return the quickstart problems that come with nel."""
    text = (files("nel") / "benchmarks" / "data" / "quickstart.jsonl").read_text(encoding="utf-8")
    rows = [orjson.loads(line) for line in text.splitlines() if line]
    return [
        PhrasedProblem(
            kind=row["kind"],
            question=row["question"],
            answer=row["answer"],
            choices=tuple(row.get("choices", ())),
        )
        for row in rows
    ]
