"""The demo judge: reads nel's own prompts for judges, compares, and errs as often and in the way
that its options say.

Everything is drawn from (seed, prompt), what changes from one asking to the next also from how
often it was asked: two servers with the same options say the same. A prompt is known by its code,
so the request to reply once more gets the verdict that the first reply should have held. The count
of askings restarts with the server.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from nel.apps.mock.behaviour import Behaviour, EmbeddedAnswerer
from nel.apps.mock.judge_grading import CRITERIA_MET, ReplyForm, form_of, honest_label
from nel.apps.mock.request_parsing import Query
from nel.apps.mock.routes import create_app
from nel.core.strict_json import dumps_bytes
from nel.judges.quoting import Unquoted, unquote

_REASONS: Final = (
    "I compared what is claimed at the end with what was asked for.",
    "I read the question first and then what is offered as an answer to it.",
    "What counts here is the final statement, and I looked at nothing else.",
    "I went through it step by step; length and style played no part.",
)
_GUESS: Final = "I have nothing to compare it with, so this is a guess."
_STRANGE: Final = (
    "I am a demo judge: I read the prompts of nel's judges, and I find no grades in this one."
)
_HESITATIONS: Final = (
    (
        "There is something to be said for every one of the grades, and I would rather not commit"
        " myself."
    ),
    "This is a hard case. On the one hand it is good, on the other hand it is not.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions(Behaviour):
    """How the demo judge behaves."""

    model: str = "demo-judge"
    accuracy: float = 0.95
    """Chance that a verdict is the honest one, before what follows changes it."""
    lenient_rate: float = 0.0
    """Chance that what deserves less gets the best grade all the same."""
    wobble_rate: float = 0.0
    """Chance that one asking of a question gets another verdict than the judge's own."""
    garbled_rate: float = 0.0
    """Chance that a reply holds no verdict that can be read; another try may hold one."""


class DemoJudge(EmbeddedAnswerer):
    """Judges what nel's judges ask; see `JudgeOptions`."""

    def __init__(self, options: JudgeOptions) -> None:
        self.options = options
        super().__init__(options)

    def _text(self, query: Query, draw: random.Random) -> tuple[str, bool]:
        return self._reply(query, draw), False

    def _reply(self, query: Query, draw: random.Random) -> str:
        prompt = unquote(query.text)
        form = form_of(prompt.rest) if prompt is not None else None
        if prompt is None or form is None:
            return _STRANGE
        if self._is_garbled(query):
            return _garbled_reply(form, draw)
        label, is_guess = self._verdict(form, prompt, query)
        reason = _GUESS if is_guess else draw.choice(_REASONS)
        if form.is_json:
            return dumps_bytes({"explanation": reason, CRITERIA_MET: label == "true"}).decode()
        return f"{reason}\n{form.line(label)}"

    def _is_garbled(self, query: Query) -> bool:
        if not self.options.garbled_rate:
            return False
        number = self._times_seen("garble", query.text)
        return self._draw("garble", query.text, number).random() < self.options.garbled_rate

    def _verdict(self, form: ReplyForm, prompt: Unquoted, query: Query) -> tuple[str, bool]:
        label, is_guess = self._steady_verdict(form, prompt)
        if self.options.wobble_rate:
            number = query.seed
            if number is None:
                number = self._times_seen("wobble", prompt.code)
            wobble = self._draw("wobble", prompt.code, number)
            if wobble.random() < self.options.wobble_rate:
                label = _another(form, label, wobble)
        return label, is_guess

    def _steady_verdict(self, form: ReplyForm, prompt: Unquoted) -> tuple[str, bool]:
        """Return the verdict on a prompt without the random change of an inconsistent judge."""
        options, draw = self.options, self._draw("verdict", prompt.code)
        label = honest_label(form, prompt)
        if label is None:
            return draw.choice(form.labels), True
        # Both are drawn in any case, so that one rate does not move what the other decides.
        errs, is_lenient = draw.random() >= options.accuracy, draw.random() < options.lenient_rate
        if is_lenient and not form.is_pair:
            return form.best, False
        return _another(form, label, draw) if errs else label, False


def judge_app(options: JudgeOptions) -> web.Application:
    """Return the application that serves the demo judge."""
    return create_app(DemoJudge(options), model=options.model, api_key=options.api_key)


def _another(form: ReplyForm, label: str, draw: random.Random) -> str:
    """Return a wrong grade; on a scale, a neighbour."""
    candidates = [candidate for candidate in form.labels if candidate != label]
    if form.is_scale:
        distances = {candidate: abs(int(candidate) - int(label)) for candidate in candidates}
        nearest = min(distances.values())
        candidates = [candidate for candidate in candidates if distances[candidate] == nearest]
    return draw.choice(candidates)


def _garbled_reply(form: ReplyForm, draw: random.Random) -> str:
    """Return a reply that holds no verdict, two of them, or an unfinished one."""
    label, other_label = draw.sample(form.labels, 2)
    if form.is_json:
        twice = f'{{"{CRITERIA_MET}": {label}}}\n{{"{CRITERIA_MET}": {other_label}}}'
        return draw.choice(
            [*_HESITATIONS, twice, f'{{"{CRITERIA_MET}": "perhaps"}}', f'{{"{CRITERIA_MET}":']
        )
    twice = f"{form.line(label)}\n{form.line(other_label)}"
    return draw.choice([*_HESITATIONS, twice, form.line("11/10"), f"{form.keyword}:"])
