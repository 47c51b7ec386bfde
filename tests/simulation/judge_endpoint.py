"""The judges of a world, each an endpoint of its own, and the wire that leads to them and to the model."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nel.models.faults import Fault
from nel.models.transport import Fetched
from nel.models.wire.openai import EventStream
from tests.simulation.endpoint import ScriptedEndpoint, Sent, usage_of
from tests.simulation.judging import MUTE, Judging, Temper, is_right
from tests.simulation.loop import Clock
from tests.simulation.script import Script
from tests.support.transport import OpenTransport

PREDECESSOR = "old"
"""The name of a judge that another one takes the place of."""
_VERDICTS = ("GRADE: C", "GRADE: I", "GRADE: A", "GRADE: B", '"criteria_met": true}', '"criteria_met": false}')
_AGAIN = "Your reply holds no verdict that can be read."


class JudgeEndpoint(ScriptedEndpoint):
    """One judge: what it says depends on the body alone."""

    prices = (3.0, 9.0)

    def __init__(
        self, script: Script, judging: Judging, clock: Clock, member: int, *, is_predecessor: bool = False
    ) -> None:
        super().__init__(script, clock)
        self.model = f"{PREDECESSOR if is_predecessor else 'judge'}-{member}"
        self._contradicts = is_predecessor
        self._judging = judging
        self._member = member
        self._latency, self._tail = judging.latency, judging.tail
        self._faults, self._faults_end = judging.faults, judging.faults_end

    @property
    def is_down_for_good(self) -> bool:
        """Return whether it is down for this whole session."""
        judging = self._judging
        return self.session < judging.down_before and self._member in judging.down_members

    def _outage(self) -> str | None:
        if self.is_down_for_good:
            return "status_503"
        for outage in self._judging.outages:
            if outage.begin <= self._clock.now < outage.end and outage.member in (None, self._member):
                return outage.fate
        return None

    def _has_room(self) -> bool:
        return True

    def _sent(self, body: str, headers: Mapping[str, str]) -> Sent:
        sent = super()._sent(body, headers)
        sent.counts = _counts(_temper(self._judging, self._member, sent), body)
        return sent

    async def _play(self, sent: Sent, rng: random.Random) -> Fetched | Fault:
        outcome = await super()._play(sent, rng)
        if sent.answered and self._judging.thronged and self._outage() is not None:
            sent.answered, sent.fate = False, "lost_connection"
            return Fault(kind="connection", message="connection reset", retryable=True)
        return outcome

    def _fate_of_sample(self, sent: Sent) -> str:
        is_refused = self._judging.temper(sent.sample, self._member) == "bad_request"
        return "bad_request" if is_refused else "answer"

    def _answer(self, sent: Sent) -> dict[str, Any]:
        return _judged(self._judging, self._member, self.model, sent, contradicts=self._contradicts)


class SelfJudgingEndpoint(ScriptedEndpoint):
    """A model that is its own judge."""

    def __init__(self, script: Script, judging: Judging, clock: Clock) -> None:
        super().__init__(script, clock)
        self._judging = judging

    def _sent(self, body: str, headers: Mapping[str, str]) -> Sent:
        sent = super()._sent(body, headers)
        sent.counts = not _asks_to_judge(body) or _counts(_temper(self._judging, 0, sent), body)
        return sent

    def _fate_of_sample(self, sent: Sent) -> str:
        if _asks_to_judge(sent.body) and self._judging.temper(sent.sample, 0) == "bad_request":
            return "bad_request"
        return super()._fate_of_sample(sent)

    def _answer(self, sent: Sent) -> dict[str, Any]:
        return _judged(self._judging, 0, self.model, sent) if _asks_to_judge(sent.body) else super()._answer(sent)


def _temper(judging: Judging, member: int, sent: Sent) -> Temper:
    """Return how a judge takes one question."""
    temper = judging.temper(sent.sample, member)
    if temper != "last_mute":
        return temper
    return "prose" if _question_of(judging, sent.body) == judging.n_questions - 1 else "plain"


def _question_of(judging: Judging, body: str) -> int:
    """Return the number of a question about an answer, from 0."""
    if judging.template == "rubric":
        found = re.search(r"criterion (\d) of sample", body)
        assert found is not None, body
        return int(found[1])
    return int(judging.template == "pairwise" and body.index("baseline of sample") < body.index("<<<ANSWER_B"))


def _judged(judging: Judging, member: int, model: str, sent: Sent, *, contradicts: bool = False) -> dict[str, Any]:
    """Return what a judge says of a sample."""
    temper = _temper(judging, member, sent)
    text: str | None = _verdict(judging, sent, contradicts=contradicts != (temper == "dissent"), temper=temper)
    if temper == "prose" or (temper == "hesitant" and not _is_asked_again(sent.body)):
        text = "I would rather not say."
    elif temper == "unknown":
        text = "GRADE: Z"
    elif temper == "empty":
        text = None
    finish = {"cut": "length", "filtered": "content_filter"}.get(temper, "stop")
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    answer: dict[str, Any] = {"model": model, "choices": [choice]}
    if sent.sample % 7:
        answer["usage"] = usage_of(sent)
    return answer


def _verdict(judging: Judging, sent: Sent, *, contradicts: bool, temper: Temper) -> str:
    question = _question_of(judging, sent.body)
    is_for = is_right(sent.sample, question if judging.template == "rubric" else 0) != contradicts
    if judging.template == "rubric":
        return json.dumps({"explanation": "I looked at it.", "criteria_met": is_for})
    if judging.template == "pairwise":
        is_first = temper == "seated" or (is_for == (question == 0))
        return f"I looked at both.\nGRADE: {'A' if is_first else 'B'}"
    return f"I looked at it.\nGRADE: {'C' if is_for else 'I'}"


def _counts(temper: Temper, body: str) -> bool:
    return temper not in MUTE and (temper != "hesitant" or _is_asked_again(body))


class Wire(OpenTransport):
    """Leads each request to the endpoint that its URL names."""

    def __init__(self, model: ScriptedEndpoint, judges: Sequence[JudgeEndpoint]) -> None:
        self._model = model
        self._judges = {judge.model: judge for judge in judges}

    async def fetch(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], stream: EventStream | None = None
    ) -> Fetched | Fault:
        """Send it on."""
        host = url.removeprefix("http://").partition("/")[0]
        return await self._judges.get(host, self._model).fetch(method, url, body, headers, stream)


def is_readable(response: Mapping[str, Any]) -> bool:
    """Return whether a stored reply of a judge holds a verdict."""
    text = str(response.get("text", ""))
    return text.endswith(_VERDICTS) and response.get("finish_reason") == "stop"


def _asks_to_judge(body: str) -> bool:
    return "GRADE: X" in body or "criteria_met" in body


def _is_asked_again(body: str) -> bool:
    return _AGAIN in str(json.loads(body)["messages"][-1]["content"])
