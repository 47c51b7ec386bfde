"""The executor of a fleet: leases samples and programs to hosts elsewhere, and repeats elsewhere
what a lost host had.

The run stays where it is, with its store, gates, budgets and judges: hosts compute, and ask the run
for all else. What a lost host had in flight is leased again; a sample that was lost with several
hosts is unscored and never wrong.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from nel.engine.executors.base import ProgramRunner, ScorerPool, ScoringWork
from nel.engine.executors.fleet import Fleet, FleetLost, Joined, Left, Packet
from nel.engine.executors.likeness import difference, environment
from nel.engine.executors.programs import LeasedSandbox
from nel.engine.executors.scoring import LeasedScorers
from nel.engine.executors.wire import HostKind, pack_json, unpack, unpack_json
from nel.engine.scorers.channel import FrameError
from nel.errors import ConfigError, PreflightError, StoppedEarly
from nel.sandbox import SandboxSettings
from nel.scoring.broken_tests import broken_tests

_LOG = logging.getLogger(__name__)
_READY_SECONDS: Final = 60.0
"""For the first hosts to start; those that come later are used from then on."""
_SILENT_SECONDS: Final = 30.0
"""A host that has said nothing for so long is given up."""
_ABSENT_SECONDS: Final = 60.0
"""The run stops resumably when there was no host for so long."""
_LOOK_SECONDS: Final = 1.0


class _Host:
    def __init__(self, kind: HostKind, node: str) -> None:
        self.kind = kind
        self.node = node
        self.hello: dict[str, Any] | None = None
        self.heard_at = time.monotonic()


class LeasedExecutor:
    """Computes scores and runs programs on the hosts of a fleet."""

    def __init__(self, name: str, fleet: Fleet) -> None:
        self.name = name
        self._fleet = fleet
        self._work: ScoringWork | None = None
        self._scorers: LeasedScorers | None = None
        self._sandbox: LeasedSandbox | None = None
        self._hosts: dict[str, _Host] = {}
        self._expected: dict[HostKind, int] = {}
        self._refused: list[str] = []
        self._images: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._lost: BaseException | None = None
        self._is_started = False
        self._n_lost = 0
        self._n_failed = 0

    def open_scorers(self, work: ScoringWork) -> ScorerPool:
        """Return scorers on the fleet's hosts.

        Raises:
            ConfigError: There are some already: several runs at once would have to share the hosts.
        """
        if self._scorers is not None:
            raise ConfigError(
                f"the executor {self.name} computes for one endpoint at a time; run each endpoint"
                " by itself, or leave --executor out"
            )
        self._work = work
        self._scorers = LeasedScorers(self._fleet.send, self.until_lost)
        for number, benchmark in enumerate(work.benchmarks):
            self._scorers.add(benchmark, number)
        return self._scorers

    def open_sandbox(self, settings: SandboxSettings) -> ProgramRunner:
        """Return sandboxes on the fleet's hosts."""
        self._sandbox = LeasedSandbox(self._fleet.send)
        return self._sandbox

    async def start(self) -> None:
        """Start hosts, and see that each would give the scores that this machine would give.

        Raises:
            PreflightError: There are no hosts, or one differs; the message names its node.
        """
        assert self._work is not None  # noqa: S101 - a session opens its scorers first
        languages = sorted(
            {language for benchmark in self._work.benchmarks for language in benchmark.languages}
        )
        kinds: list[HostKind] = ["scoring", "sandbox"] if languages else ["scoring"]
        names = {name for benchmark in self._work.benchmarks for name in benchmark.env}
        shared = {
            "variables": {name: os.environ[name] for name in names & os.environ.keys()},
            "config": self._work.config,
            "cwd": str(Path.cwd()),
            "languages": languages,
            "broken_tests": dict(broken_tests()),
        }
        n_expected = await self._fleet.open(
            {kind: pack_json({**shared, "kind": kind}) for kind in kinds}
        )
        self._tasks = [asyncio.create_task(self._pump()), asyncio.create_task(self._look())]
        if self._sandbox is not None:
            self._sandbox.loop = asyncio.get_running_loop()
        ends = time.monotonic() + _READY_SECONDS
        while not self._is_ready(kinds, n_expected, is_late=time.monotonic() > ends):
            if self._lost is not None:
                raise PreflightError(str(self._lost), endpoint_kind=None)
            await self._wait_for_change()
        if self._refused:
            raise PreflightError(self._refused[0], endpoint_kind=None)
        absent = [kind for kind in kinds if not self._n_ready(kind)]
        if absent:
            raise PreflightError(
                f"no host for {' and '.join(absent)} came up within {_READY_SECONDS:g} s; see"
                " whether the cluster has free CPUs",
                endpoint_kind=None,
            )
        self._is_started = True

    def facts(self) -> Mapping[str, Any]:
        """Return where the hosts are, and how many there are on each node."""
        nodes: dict[str, dict[str, int]] = {}
        for host in self._hosts.values():
            if host.hello is not None:
                of_node = nodes.setdefault(host.node, {"scoring": 0, "sandbox": 0})
                of_node[host.kind] += 1
        return {"name": self.name, **self._fleet.facts(), "nodes": nodes}

    def notes(self) -> Sequence[str]:
        """Return how many hosts were lost, if any."""
        if not self._n_lost:
            return ()
        n_again = sum(part.n_again for part in (self._scorers, self._sandbox) if part is not None)
        note = (
            f"{self._n_lost} workers were lost; the {n_again} samples that they had were scored"
            " again elsewhere"
        )
        return [note]

    def close(self) -> None:
        """End all hosts."""
        self._fleet.close()

    async def until_lost(self) -> None:
        """Wait until no host is there and none will be.

        Raises:
            StoppedEarly: That is so.
        """
        absent_since: float | None = None
        while self._lost is None:
            if self._n_ready("scoring"):
                absent_since = None
            elif absent_since is None:
                absent_since = time.monotonic()
            elif time.monotonic() - absent_since > _ABSENT_SECONDS:
                raise StoppedEarly(
                    f"no worker of {self.name} has been there for {_ABSENT_SECONDS:g} s; {_RESUME}"
                )
            await self._wait_for_change()
        raise StoppedEarly(f"{self._lost}; {_RESUME}")

    def _is_ready(self, kinds: Sequence[HostKind], n_expected: int, *, is_late: bool) -> bool:
        n_known = self._n_failed + sum(host.hello is not None for host in self._hosts.values())
        has_all = all(self._n_ready(kind) for kind in kinds)
        return bool(self._refused) or is_late or (has_all and n_known >= n_expected)

    def _n_ready(self, kind: HostKind) -> int:
        return sum(host.kind == kind and host.hello is not None for host in self._hosts.values())

    async def _wait_for_change(self) -> None:
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), _LOOK_SECONDS)
        except TimeoutError:
            return

    async def _pump(self) -> None:
        try:
            async for event in self._fleet.events():
                if isinstance(event, Joined):
                    self._hosts[event.host] = _Host(event.kind, event.node)
                elif isinstance(event, Packet):
                    self._on_packet(event)
                else:
                    self._on_left(event)
        except FleetLost as error:
            self._lost = error
        self._changed.set()

    async def _look(self) -> None:
        """Give up hosts that say nothing: a stopped process, or a network that is cut."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            for name, host in list(self._hosts.items()):
                if host.hello is not None and now - host.heard_at > _SILENT_SECONDS:
                    self._fleet.end(name)
                    self._on_left(Left(name, f"it said nothing for {_SILENT_SECONDS:g} s"))

    def _on_packet(self, event: Packet) -> None:
        host = self._hosts.get(event.host)
        if host is None:  # given up meanwhile
            return
        host.heard_at = time.monotonic()
        try:
            if host.hello is None:
                self._on_hello(event.host, host, unpack_json(event.data))
                return
            messages = unpack(event.data)
        except FrameError as error:
            self._fleet.end(event.host)
            self._on_left(Left(event.host, f"something else wrote to its connection: {error}"))
            return
        if host.kind == "scoring" and self._scorers is not None:
            self._scorers.on_messages(event.host, messages)
        elif self._sandbox is not None:
            self._sandbox.on_messages(event.host, messages)

    def _on_hello(self, name: str, host: _Host, hello: dict[str, Any]) -> None:
        problem = self._problem_of(host, hello)
        self._changed.set()
        if problem is not None:
            self._refuse(name, host, problem)
            return
        host.hello = hello
        if host.kind == "scoring" and self._scorers is not None:
            self._scorers.join(name)
        elif self._sandbox is not None:
            self._sandbox.join(name, hello)

    def _problem_of(self, host: _Host, hello: Mapping[str, Any]) -> str | None:
        assert self._work is not None  # noqa: S101
        if hello.get("error"):
            # Another version of nel or of a plugin says more than the error that it led to.
            what = difference({**environment(), "digests": ()}, hello, ())
            what = what or f"cannot compute scores: {hello['error']}"
            return f"the node {host.node} {what}; {_SAME}"
        names = [benchmark.name for benchmark in self._work.benchmarks]
        digests = self._work.digests if host.kind == "scoring" else ()
        what = difference({**environment(), "digests": digests}, hello, names)
        if what is not None:
            return f"the node {host.node} {what}; {_SAME}"
        for language, image in hello.get("engine", {}).get("images", {}).items():
            first_image = self._images.setdefault(language, image)
            if first_image != image:
                return (
                    f"the node {host.node} runs {language} in {image} and another node in"
                    f" {first_image}; build one image"
                )
        return None

    def _refuse(self, name: str, host: _Host, problem: str) -> None:
        del self._hosts[name]
        self._fleet.end(name)
        if self._is_started:  # the other hosts go on
            _LOG.warning("%s", problem)
        else:
            self._refused.append(problem)

    def _on_left(self, event: Left) -> None:
        host = self._hosts.pop(event.host, None)
        self._changed.set()
        if host is None:
            return
        if host.hello is None:
            problem = f"a worker on the node {host.node} did not start: {event.reason}"
            _LOG.warning("%s", problem)
            self._n_failed += 1
            if not self._is_started and event.is_own_fault:
                self._refused.append(f"{problem}; install nel and its plugins on every node")
            return
        self._n_lost += 1
        _LOG.warning("a worker on the node %s is lost: %s", host.node, event.reason)
        if host.kind == "scoring" and self._scorers is not None:
            self._scorers.lose(event.host)
        elif self._sandbox is not None:
            self._sandbox.lose(event.host)


_RESUME: Final = "every answer is kept, resume to have the rest scored, here with --executor local"
_SAME: Final = "install the same nel, plugins and packages on every node, or scores could differ"
