"""A fleet without processes: its hosts score on the event loop, and are lost or differ as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from nel.authoring.benchmark import Benchmark
from nel.config.load import build_config
from nel.engine.executors.fleet import Event, FleetLost, Joined, Left, Packet
from nel.engine.executors.likeness import environment
from nel.engine.executors.wire import Finished, HostKind, ScoreAnswer, pack, pack_json, unpack_from_run, unpack_json
from nel.engine.planning.resolution import benchmark_to_score
from nel.engine.scorers.call import ScoringTask, score_turns, scorer_inputs
from nel.engine.scorers.identity import scorer_digest
from nel.types import SampleKey

Loss = Callable[[str, ScoreAnswer], str | None]


class FakeFleet:
    """Hosts ``host-1`` … on nodes ``node-1`` …; a lost one is replaced."""

    def __init__(self, n: int, *, loses: Loss = lambda *_: None, hello: Mapping[str, Any] | None = None) -> None:
        """Prepare hosts.

        Args:
            n: Hosts at once.
            loses: Returns ``host`` or ``fleet`` where the arrival of an answer ends that.
            hello: What the last of the first hosts says otherwise.
        """
        self._n = n
        self._loses = loses
        self._hello = hello
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._hosts: set[str] = set()
        self._n_started = 0
        self._benchmarks: list[Benchmark] = []
        self.ended: list[str] = []

    async def open(self, starts: Mapping[HostKind, bytes]) -> int:
        config = build_config(unpack_json(starts["scoring"])["config"], where="test")
        self._benchmarks = [benchmark_to_score(config, named) for named in config.benchmarks]
        for _ in range(self._n):
            self._start()
        return self._n

    def _start(self) -> None:
        self._n_started += 1
        name = f"host-{self._n_started}"
        self._hosts.add(name)
        self._events.put_nowait(Joined(name, "scoring", f"node-{self._n_started}"))
        hello = {**environment(), "digests": [scorer_digest(one) for one in self._benchmarks]}
        other = self._hello if self._hello is not None and self._n_started == self._n else {}
        self._events.put_nowait(Packet(name, pack_json({**hello, **other})))

    async def events(self) -> AsyncIterator[Event]:
        while (event := await self._events.get()) is not None:
            yield event
        raise FleetLost("the fleet of the test is lost")

    def send(self, host: str, packet: bytes) -> None:
        for message in unpack_from_run(packet):
            assert isinstance(message, ScoreAnswer)
            if host not in self._hosts:
                return
            loss = self._loses(host, message)
            if loss == "fleet":
                self._events.put_nowait(None)
            elif loss == "host":
                self._hosts.discard(host)
                self._events.put_nowait(Left(host, "the test"))
                self._start()
            else:
                self._score(host, message)

    def _score(self, host: str, message: ScoreAnswer) -> None:
        benchmark = self._benchmarks[message.benchmark]
        task = ScoringTask(
            SampleKey(0, 0, message.repeat), message.sample, message.response, benchmark, message.conversation
        )
        result = score_turns(benchmark, scorer_inputs(task))
        self._events.put_nowait(Packet(host, pack([Finished([(message.number, result)], 0.0, True)])))

    def end(self, host: str) -> None:
        self._hosts.discard(host)
        self.ended.append(host)

    def facts(self) -> Mapping[str, Any]:
        return {"address": "test"}

    def close(self) -> None: ...
