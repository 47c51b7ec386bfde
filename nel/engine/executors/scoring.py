"""Scorers on hosts, seen by the pipeline as local ones: leases answers, serves what scorers ask."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.engine.executors.leases import Leases
from nel.engine.executors.wire import Finished, ScoreAnswer, ScorerQuestion, ToRun, pack
from nel.engine.scorers.call import Answer, Deliver, Result, ScoringTask
from nel.engine.scorers.channel import reply_to
from nel.types import Unscored

ATTEMPTS_MAX: Final = 3
"""Hosts with which an answer may be lost before it is left unscored."""


@dataclass(slots=True)
class _Scoring:
    item: ScoringTask
    attempt: int = 0
    """How often its host has restarted it."""


class LeasedScorers:
    """The scorers of a run, on hosts."""

    def __init__(
        self, send: Callable[[str, bytes], None], until_lost: Callable[[], Awaitable[None]]
    ) -> None:
        """Begin without hosts.

        Args:
            send: Sends a packet to a host.
            until_lost: Raises StoppedEarly once there will be no host.
        """
        self._send = send
        self._until_lost = until_lost
        self._benchmarks: dict[int, int] = {}
        self._scorings: dict[int, _Scoring] = {}
        self._leases = Leases(attempts_max=ATTEMPTS_MAX)
        self._numbers = count(1)
        self._answering: set[asyncio.Task[None]] = set()
        self._deliver: Deliver | None = None
        self._answer: Answer
        self._is_flush_due = False
        self.n_again = 0
        """Scorings that were repeated because their host was lost."""

    def add(self, benchmark: Benchmark, number: int) -> None:
        """Note the number by which hosts know a benchmark."""
        self._benchmarks[id(benchmark)] = number

    async def run(self, *, timeout_seconds: float, deliver: Deliver, answer: Answer) -> None:
        """Score what `put` brings, until cancelled; as `nel.engine.executors.ScorerPool` says.

        The time of a scoring is limited by its host, which has the configuration.
        """
        self._deliver, self._answer = deliver, answer
        self._flush()
        try:
            await self._until_lost()
        finally:
            for task in self._answering:
                task.cancel()

    def put(self, item: ScoringTask) -> None:
        """Take an item; its outcome is delivered later."""
        number = next(self._numbers)
        self._scorings[number] = _Scoring(item)
        self._leases.put(number)
        self._flush_soon()

    def close(self) -> None:
        """Return; the fleet ends its hosts."""

    def join(self, host: str) -> None:
        """Use a host from now on."""
        self._leases.join(host)
        self._flush_soon()

    def lose(self, host: str) -> None:
        """Score again what a lost host had, and leave unscored what was lost too often."""
        retries, given_up = self._leases.lose(host)
        self.n_again += len(retries)
        for number in retries:
            scoring = self._scorings[number]
            scoring.item, scoring.attempt = scoring.item.restart(), 0
        detail = f"the workers that scored it were lost {ATTEMPTS_MAX} times"
        outcome = Unscored(cause="infra", kind="worker_lost", detail=detail)
        self._finish((number, outcome) for number in given_up)
        self._flush_soon()

    def on_messages(self, host: str, messages: Sequence[ToRun]) -> None:
        """Take what a host says."""
        for message in messages:
            if isinstance(message, Finished):
                self._finish(
                    [result for result in message.results if self._leases.finish(host, result[0])]
                )
                self._leases.adapt(host, message.seconds, is_dry=message.is_dry)
                self._flush()
            elif isinstance(message, ScorerQuestion) and self._leases.holds(host, message.number):
                task = asyncio.create_task(self._answer_question(host, message))
                self._answering.add(task)
                task.add_done_callback(self._answering.discard)

    def _finish(self, results: Iterable[tuple[int, Result]]) -> None:
        finished = [(self._scorings.pop(number).item, result) for number, result in results]
        if finished and self._deliver is not None:
            self._deliver(finished)

    async def _answer_question(self, host: str, question: ScorerQuestion) -> None:
        scoring = self._scorings.get(question.number)
        if scoring is None:
            return
        # Its host has started it again, and its questions are counted from the first.
        if scoring.attempt != question.attempt:
            scoring.item, scoring.attempt = scoring.item.restart(), question.attempt
        self._leases.set_asking(host, question.number, is_asking=True)
        self._flush_soon()
        answering = self._answer(scoring.item, question.what, question.payload)
        try:
            reply = await reply_to(question.question, answering)
        finally:
            self._leases.set_asking(host, question.number, is_asking=False)
        if self._leases.holds(host, question.number):
            self._send(host, pack([reply]))

    def _flush_soon(self) -> None:
        """Lease what waits after the event loop's current callbacks, so that it goes together."""
        if not self._is_flush_due and self._deliver is not None:
            self._is_flush_due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._is_flush_due = False
        for host, numbers in self._leases.assign().items():
            self._send(host, pack([self._message(number) for number in numbers]))

    def _message(self, number: int) -> ScoreAnswer:
        item = self._scorings[number].item
        benchmark = self._benchmarks[id(item.benchmark)]
        return ScoreAnswer(
            number, benchmark, item.key.repeat, item.sample, item.response, item.conversation
        )
