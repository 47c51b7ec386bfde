"""The scripted endpoint: a `Transport` that answers under virtual time and writes down all it was sent.

An answer depends on the body alone, whatever faults came before it. Note: a fault that arrives after the endpoint has
done the work is billed, as a vendor would.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import product
from typing import Any

from nel.core.strict_json import dumps_bytes
from nel.models.faults import Fault
from nel.models.transport import Fetched
from nel.models.wire.openai import EventStream
from tests.simulation.acting import ASIDE, Acting, calls_of
from tests.simulation.loop import Clock
from tests.simulation.script import TRANSIENT, Kind, Script
from tests.support.transport import OpenTransport

FIRST_BYTE_SECONDS = 40.0
MAX_TOKENS = 64
PRICE_INPUT, PRICE_OUTPUT = 1.0, 2.0
"""For a million tokens."""
POISONED = "HTTP 500: fault 500"
"""What is said of a sample whose every attempt fails."""
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_ERRORS = {
    "error_200": {"error": {"message": "the backend gave up", "code": 500}},
    "limit_200": {"error": {"message": "slow down", "code": 429}},
    "no_choices": {"model": "m", "choices": []},
    "no_message": {"model": "m", "choices": [{"index": 0, "message": None, "finish_reason": "stop"}]},
}
_ENDINGS = {"length": "length", "filtered": "content_filter"}
_BENCHMARK, _ATTEMPTS_MAX, _STEPS_MAX = 1, 200, 60
_RAW = {"malformed": b'{"choices": [{"message": {"content": "4', "html": b"<html><body>Please sign in</body></html>"}


@dataclass(slots=True, kw_only=True)
class Sent:
    """One request as the endpoint saw it."""

    at: float
    session: int
    key: str
    sample: int
    repeat: int
    body: str
    fate: str
    answered: bool = False
    """An answer that it did work for reached the client."""
    processed: bool = False
    """The endpoint got it and counts it."""
    tokens: int = 0
    cost: float = 0.0
    over: float = float("inf")
    """When the client had its answer or fault."""
    counts: bool = True
    """Its answer can be used, so that it may never be asked for again once it is on disk."""
    step: str = ""
    """Of an episode, since two attempts may send the same body."""

    @property
    def place(self) -> tuple[int, int, str]:
        """Return what was asked."""
        return self.sample, self.repeat, self.step or self.body


class ScriptedEndpoint(OpenTransport):
    """The endpoint of one world."""

    model = "m"
    prices = (PRICE_INPUT, PRICE_OUTPUT)

    def __init__(self, script: Script, clock: Clock) -> None:
        self._script = script
        self._clock = clock
        self._latency, self._tail = script.latency, script.tail
        self._faults, self._faults_end = script.faults, script.faults_end
        self._attempts: Counter[str] = Counter()
        self._bucket, self._filled_at = 2.0, clock.now
        self.log: list[Sent] = []
        self.fetched = 0
        """Requests of any kind, those for the list of models included."""
        self.n_neutral = 0
        """Neutral prompts, which are not samples."""
        self.in_flight: dict[int, Sent] = {}
        self.most_in_flight = 0
        self.session = 0
        self._steps: dict[str, str] = {}
        """By idempotency key."""
        self.run_id: Callable[[], str] = str
        """Of the run that asks, which its keys are made of."""
        self.dead = False
        """The client's process is gone: nothing of it is seen any more."""

    async def fetch(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], stream: EventStream | None = None
    ) -> Fetched | Fault:
        """Return what the script says of this attempt, after the time it says."""
        if self.dead:
            await asyncio.Event().wait()
        self.fetched += 1
        if body is None:
            return await self._list_models()
        if "Idempotency-Key" not in headers:
            return await self._neutral()
        sent = self._sent(body.decode(), headers)
        rng = random.Random(f"{self._script.seed}/{sent.key}/{self._attempts[sent.key]}")
        sent.fate = self._fate(sent, rng)
        self.log.append(sent)
        number = len(self.log)
        self.in_flight[number] = sent
        self.most_in_flight = max(self.most_in_flight, len(self.in_flight))
        try:
            return await self._play(sent, rng)
        finally:
            self.in_flight.pop(number, None)
            sent.over = self._clock.now

    async def _list_models(self) -> Fetched | Fault:
        await asyncio.sleep(0.1)
        if self._outage() == "refused":
            return _fault("refused")
        return _json(200, {"data": [{"id": self.model}]}, 0.1)

    async def _neutral(self) -> Fetched | Fault:
        """Return what a neutral prompt gets: an answer that costs nothing, except in an outage."""
        self.n_neutral += 1
        await asyncio.sleep(0.1)
        outage = self._outage()
        if outage == "silent":
            await asyncio.sleep(FIRST_BYTE_SECONDS)
            return Fault(kind="first_byte_timeout", message="no answer began in time", retryable=True)
        if outage is not None:
            is_status = outage.startswith("status_") or outage == "quota"
            return self._refusal(outage, random.Random(0)) if is_status else _fault(outage)
        choice = {"index": 0, "message": {"content": "OK"}, "text": "OK", "finish_reason": "stop"}
        usage = {"prompt_tokens": 0, "completion_tokens": 0}
        return _json(200, {"model": self.model, "choices": [choice], "usage": usage}, 0.1)

    def _sent(self, body: str, headers: Mapping[str, str]) -> Sent:
        key = headers["Idempotency-Key"]
        self._attempts[key] += 1
        sent = Sent(
            at=self._clock.now,
            session=self.session,
            key=key,
            sample=int(headers["X-Nel-Sample-Id"].removeprefix("s")),
            repeat=int(headers["X-Nel-Repeat"]),
            body=body,
            fate="",
        )
        if self._script.acting is not None:
            sent.step = self._steps.setdefault(key, "") or self._step_of(sent)
            self._steps[key] = sent.step
        return sent

    def _step_of(self, sent: Sent) -> str:
        """Return the step of an episode that a request is, which only its key tells."""
        body = sent.body.encode()
        for attempt, number in product(range(_ATTEMPTS_MAX), range(_STEPS_MAX)):
            step = f"step-{attempt}-{number}"
            parts = [self.run_id(), _BENCHMARK, f"s{sent.sample}", sent.repeat, step]
            if hashlib.sha256(dumps_bytes(parts) + body).hexdigest()[:32] == sent.key:
                return step
        raise AssertionError(f"no step of sample {sent.sample} has the key {sent.key}")

    def _outage(self) -> str | None:
        for window in self._script.windows:
            if window.begin <= self._clock.now < window.end:
                return window.fate
        return None

    def _fate(self, sent: Sent, rng: random.Random) -> str:
        outage = self._outage()
        if outage is not None:
            return outage
        if self._clock.now < self._faults_end:
            if not self._has_room():
                return rng.choice(("status_429", "status_429_wait", "status_429_told"))
            if rng.random() < self._faults:
                return rng.choice(TRANSIENT)
        return self._fate_of_sample(sent)

    def _fate_of_sample(self, sent: Sent) -> str:
        kind = self._script.kinds[sent.sample]
        if kind == "poison":
            return "status_500"
        return {"context": "context", "refused": "bad_request"}.get(kind, "answer")

    def _has_room(self) -> bool:
        rate, now = self._script.requests_per_second, self._clock.now
        if rate is None:
            return True
        self._bucket = min(max(2.0, rate), self._bucket + (now - self._filled_at) * rate)
        self._filled_at = now
        if self._bucket < 1:
            return False
        self._bucket -= 1
        return True

    async def _play(self, sent: Sent, rng: random.Random) -> Fetched | Fault:
        fate = sent.fate
        latency = self._latency * rng.uniform(0.5, 1.5) * (20 if rng.random() < self._tail else 1)
        if fate in ("refused", "hung_up"):
            await asyncio.sleep(0.01)
            return _fault(fate)
        sent.processed = True
        if fate == "silent" or (fate == "answer" and latency >= FIRST_BYTE_SECONDS):
            sent.fate = "silent"
            self._bill(sent)
            await asyncio.sleep(FIRST_BYTE_SECONDS)
            return Fault(kind="first_byte_timeout", message="no answer began in time", retryable=True)
        if fate.startswith("status_") or fate in ("quota", "bad_request", "context"):
            await asyncio.sleep(0.05)
            return self._refusal(fate, rng)
        self._bill(sent)
        await asyncio.sleep(latency)
        if fate in ("lost", "lost_connection"):
            return _fault(fate)
        if fate in _RAW:
            return Fetched(200, {}, _RAW[fate], latency)
        if fate in _ERRORS:
            return _json(200, _ERRORS[fate], latency)
        sent.answered = True
        return _json(200, self._answer(sent), latency, self._quota_headers())

    def _bill(self, sent: Sent) -> None:
        prompt, completion = _tokens(sent.body)
        sent.tokens = prompt + completion
        sent.cost = (prompt * self.prices[0] + completion * self.prices[1]) / 1e6

    def _refusal(self, fate: str, rng: random.Random) -> Fetched:
        now = _EPOCH + timedelta(seconds=self._clock.now)
        name, _, hint = fate.removeprefix("status_").partition("_")
        headers: dict[str, str] = {"Date": format_datetime(now, usegmt=True)}
        if hint == "wait":
            headers["Retry-After"] = rng.choice(("0", "1", "2.5", "20", "abc", "-1"))
        elif hint == "date":
            until = now + timedelta(seconds=rng.choice((-5, 2, 9)))
            headers["Retry-After"] = format_datetime(until, usegmt=True)
        elif hint == "told":
            headers |= {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0"}
            headers["x-ratelimit-reset-requests"] = "1s"
        if fate == "quota":
            return _json(402, {"error": {"message": "no credit left"}}, 0.05, headers)
        if fate == "context":
            error = {"message": "maximum context length is 8 tokens", "code": "context_length_exceeded"}
            return _json(400, {"error": error}, 0.05, headers)
        if fate == "bad_request":
            return _json(400, {"error": {"message": "this prompt is not taken"}}, 0.05, headers)
        return _json(int(name), {"error": {"message": f"fault {name}"}}, 0.05, headers)

    def _quota_headers(self) -> dict[str, str]:
        rate = self._script.requests_per_second
        if rate is None or self._clock.now >= self._script.faults_end or self._script.seed % 2:
            return {}
        limit = {"x-ratelimit-limit-requests": f"{rate * 60:.0f}", "x-ratelimit-reset-requests": "1s"}
        return {**limit, "x-ratelimit-remaining-requests": f"{self._bucket:.0f}"}

    def _answer(self, sent: Sent) -> dict[str, Any]:
        kind = self._script.kinds[sent.sample]
        if self._script.acting is not None:
            message, finish = _acted(self._script.acting, kind, sent)
            return self._with_usage(sent, message, finish)
        digest = hashlib.sha256(sent.body.encode()).hexdigest()
        text: str | None = f"w{digest[:8]}" if kind == "wrong" else f"t{sent.sample}"
        if kind == "turns" and int(digest[0], 16) % 3 == 0:
            text = "w"
        if kind == "empty":
            text = None
        finish = _ENDINGS.get(kind, "stop")
        return self._with_usage(sent, {"role": "assistant", "content": text}, finish)

    def _with_usage(self, sent: Sent, message: dict[str, Any], finish: str) -> dict[str, Any]:
        choice = {"index": 0, "message": message, "finish_reason": finish}
        answer: dict[str, Any] = {"model": "m", "choices": [choice]}
        if sent.sample % 7:
            answer["usage"] = usage_of(sent)
        return answer


def usage_of(sent: Sent) -> dict[str, int]:
    """Return what the endpoint says of the tokens of an answer."""
    prompt, completion = _tokens(sent.body)
    return {"prompt_tokens": prompt, "completion_tokens": completion}


def _acted(acting: Acting, kind: Kind, sent: Sent) -> tuple[dict[str, Any], str]:
    """Return the message by which a model goes on in its episode, and how it ends."""
    messages = json.loads(sent.body)["messages"]
    if messages[0]["content"].startswith(ASIDE):
        return {"role": "assistant", "content": "this is beside the conversation"}, "stop"
    number = sum(message["role"] == "assistant" for message in messages)
    moves = acting.moves[sent.sample]
    if moves[number]:
        calls = [
            {"id": f"call-{number}-{position}", "type": "function", "function": call}
            for position, call in enumerate(calls_of(moves[number], sent.sample, number))
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
    if number + 1 < len(moves):
        return {"role": "assistant", "content": "what else?"}, "stop"
    text = f"t{sent.sample}" if kind in ("right", "raises", "hangs") else None if kind == "empty" else f"w{number}"
    return {"role": "assistant", "content": text}, _ENDINGS.get(kind, "stop")


def expected(script: Script, idx: int) -> tuple[str, str | None]:
    """Return the state of a sample's outcome, and its kind where there is one."""
    state, named = expected_before_judging(script.kinds[idx])
    if script.acting is not None and script.kinds[idx] not in ("context", "refused", "poison"):
        fault = script.acting.fault(idx)
        return (state, named) if fault is None else ("unscored", fault)
    judging = script.judging
    if state != "scored" or judging is None or judging.ways[idx] == "rule":
        return state, named
    fault = judging.fault(idx)
    return ("scored", None) if fault is None else ("unscored", fault)


def expected_before_judging(kind: Kind) -> tuple[str, str | None]:
    """Return the state of a sample that no judge judges, and its kind where there is one."""
    failures = {"length": "truncated", "empty": "empty", "filtered": "content_filter", "context": "context_exceeded"}
    if kind in failures:
        return "model_failure", failures[kind]
    lost = {"refused": "bad_request", "poison": "server_error", "raises": "raised", "hangs": "timeout"}
    return ("unscored", lost[kind]) if kind in lost else ("scored", None)


def _tokens(body: str) -> tuple[int, int]:
    digest = hashlib.sha256(body.encode()).digest()
    return len(body) // 4, 1 + digest[0] % MAX_TOKENS


def _fault(fate: str) -> Fault:
    if fate == "hung_up":
        return Fault(kind="connection", message="hung up before it answered", retryable=True, hung_up=True)
    refused = fate == "refused"
    message = "connection refused" if refused else "connection reset"
    return Fault(kind="connection", message=message, retryable=True, never_connected=refused)


def _json(status: int, payload: Any, seconds: float, headers: Mapping[str, str] | None = None) -> Fetched:
    return Fetched(status, headers or {}, json.dumps(payload).encode(), seconds)
