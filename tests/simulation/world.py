"""One world: a run with all its sessions, killed, stopped and resumed as its script says, until it is done.

Everything but the script's own parts is nel's: preparation, pipeline, client, gate, store, artifacts.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nel.artifacts.write import write_artifacts
from nel.benchmarks.base import Benchmark
from nel.config.schema import RunConfig
from nel.engine.ending import Ending
from nel.engine.plan import Plan, _plan
from nel.engine.progress import Progress
from nel.engine.run import run_session
from nel.engine.scoring import Scorers
from nel.engine.session import Footing
from nel.engine.spending import spent_before
from nel.engine.store_snapshot import FILE_NAME, Snapshot
from nel.models.budget import Spend
from nel.observer import NOBODY, Observer
from nel.prompts import load_template
from nel.scoring.text import exact_match
from nel.types import ScorerInput
from tests.simulation.endpoint import (
    FIRST_BYTE_SECONDS,
    MAX_TOKENS,
    POISONED,
    PRICE_INPUT,
    PRICE_OUTPUT,
    ScriptedEndpoint,
    expected,
)
from tests.simulation.loop import Clock, Crash, VirtualLoop, run_virtually
from tests.simulation.parts import SimulatedScorers, SimulatedStore
from tests.simulation.script import START, Script, SessionScript

SECONDS_TO_FINISH = 3600.0
"""After the last fault, or the start of the session where that is later."""
_SESSIONS_MAX = 150
_SCORER_SECONDS = 20.0
Place = tuple[int, int, str]


@dataclass(slots=True, kw_only=True)
class Past:
    """What a session left behind, for the checks."""

    number: int
    concurrency: int
    trouble: str
    ending: Ending | None
    """None after a kill."""
    began: float
    ended: float
    committed_before: set[Place]
    """Answers that were on disk when it began."""
    committed_after: set[Place]
    most_in_flight: int
    in_flight_at_end: list[Place]
    counted: int
    """Outcomes that its progress showed."""
    outcomes_committed: int
    permits_at_end: int
    known: Spend | None
    """What the run knew of its spending before, None where the session did not come so far."""
    stored_after: set[Place]
    """All that was answered or given up, as far as it is on disk."""
    cap: tuple[str, float] | None
    lost: list[tuple[int, str]] = field(default_factory=list)
    """Samples that ended unscored by the endpoint, with the kind."""


class World:
    """A seed's run in a directory of its own."""

    def __init__(self, script: Script, root: Path) -> None:
        self.script = script
        self.run_dir = root / "run"
        self.run_dir.mkdir(parents=True)
        self.clock = Clock(now=START)
        self.endpoint = ScriptedEndpoint(script, self.clock)
        self.past: list[Past] = []
        self.violations: list[str] = []
        self.cap = script.cap
        self._rng = random.Random(f"world/{script.seed}")
        self._store: SimulatedStore | None = None
        self._progress = Progress()
        self._at_end: list[Place] = []
        self._known: Spend | None = None

    def run(self) -> None:
        """Run sessions until one ends well and nothing is left that another might mend; write the artifacts."""
        for number in range(_SESSIONS_MAX):
            scripts = self.script.sessions
            last = SessionScript(concurrency=self.script.last_concurrency)
            past = self._session(number, scripts[number] if number < len(scripts) else last)
            self.past.append(past)
            ending = past.ending
            if ending is not None and ending.exit_code == 0 and not self._mendable():
                write_artifacts(self.run_dir)
                return
            if ending is not None and ending.cause == "budget" and self.cap is not None:
                self.cap = (self.cap[0], self.cap[1] * 1.5 + 20)
            self.clock.now += 1.0 if past.trouble != "none" else self._rng.uniform(10, 120)
        self.violations.append(f"liveness: not done after {_SESSIONS_MAX} sessions, the last ended {ending}")

    def _mendable(self) -> bool:
        """Return whether an outcome is unscored for a reason that lies in the time and not in the sample."""
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            query = (
                "SELECT idx, json_extract(outcome, '$.kind'), json_extract(outcome, '$.detail')"
                " FROM outcomes WHERE retry > 0"
            )
            rows = snapshot._connection.execute(query).fetchall()
        for idx, kind, detail in rows:
            wanted = self.script.kinds[idx]
            if expected(wanted) != ("unscored", kind) or (wanted == "poison" and detail != POISONED):
                return True
        return False

    def _session(self, number: int, session: SessionScript) -> Past:
        rng = random.Random(f"session/{self.script.seed}/{number}")
        clock, endpoint = self.clock, self.endpoint
        endpoint.session, endpoint.dead, endpoint.most_in_flight = number, False, 0
        began = clock.now
        before, self._known = self._committed(), None
        self._store, self._progress = None, Progress()
        config = self._config(session)
        ending: Ending | None = None
        at_end: list[Place] = []

        self._at_end = at_end
        with suppress(Crash):
            plans = [plan_of(self.script, config)]
            ending = run_session(
                self.run_dir, config, plans, progress=self._progress, footing=self._footing(session, rng)
            )
        gate = self._progress.gate
        store = self._store
        return Past(
            number=number,
            concurrency=session.concurrency,
            trouble=session.trouble,
            ending=ending,
            began=began,
            ended=clock.now,
            committed_before=before,
            committed_after=self._committed(),
            most_in_flight=endpoint.most_in_flight,
            in_flight_at_end=at_end,
            counted=self._progress.done,
            outcomes_committed=store.outcomes_committed if store is not None else 0,
            permits_at_end=gate.in_flight if gate is not None and ending is not None else 0,
            known=self._known,
            stored_after=self._stored(),
            cap=self.cap,
            lost=self._lost(),
        )

    def _footing(self, session: SessionScript, rng: random.Random) -> Footing:
        def open_store(path: Path) -> SimulatedStore:
            store = self._store = SimulatedStore(path, self.script, session, rng)
            store.killed = self._dead
            return store

        def scorers(benchmarks: Sequence[Benchmark]) -> Scorers:
            if self.script.scorers == "own":
                return Scorers(benchmarks)
            return SimulatedScorers(benchmarks, self.script, rng, lambda: self.clock.now)

        return Footing(
            run=lambda main: self._run(main, session),
            store=open_store,
            scorers=scorers,
            observing=_nobody_watches,
            transport=self.endpoint,
            jitter=rng.random,
        )

    def _dead(self) -> None:
        self._at_end.extend(sent.place for sent in self.endpoint.in_flight.values())
        self.endpoint.dead = True

    def _run(self, main: Coroutine[Any, Any, Ending], session: SessionScript) -> Ending:
        store = self._store
        assert store is not None

        def started(loop: VirtualLoop) -> None:
            self.clock.deadline = max(self.clock.now, self.script.faults_end) + SECONDS_TO_FINISH
            self._known = self._spent_before()
            loop.when_quiet(self._look)
            if session.trouble == "kill":
                loop.call_later(session.after_seconds, store.kill)
            elif session.trouble == "signal":
                number = signal.SIGINT if session.number % 2 else signal.SIGTERM
                loop.call_later(session.after_seconds, loop.deliver, number)

        def died() -> None:
            self.endpoint.dead = True

        return run_virtually(main, self.clock, started=started, died=died)

    def _look(self) -> None:
        """Compare permits with what they stand for, whenever everything has come to rest."""
        gate, store = self._progress.gate, self._store
        if gate is None or store is None:
            return
        standing = len(self.endpoint.in_flight) + store.holding
        exact = self.cap is None
        if gate.in_flight < standing or (exact and gate.in_flight != standing):
            self._note(f"I5 permits: {gate.in_flight} held, {standing} answers under way or on their way to disk")

    def _note(self, violation: str) -> None:
        if len(self.violations) < 20:
            self.violations.append(f"{violation} (at {self.clock.now:.2f} s, session {self.endpoint.session})")

    def _config(self, session: SessionScript) -> RunConfig:
        return config_of(self.script, session.concurrency, self.cap)

    def _committed(self) -> set[Place]:
        """Return every answer on disk that no resume may ask for again."""
        path = self.run_dir / FILE_NAME
        if not path.is_file():
            return set()
        with Snapshot(path) as snapshot:
            connection = snapshot._connection
            found = connection.execute(
                "SELECT r.idx, r.repeat, r.request FROM responses r LEFT JOIN outcomes o ON o.benchmark = r.benchmark"
                " AND o.idx = r.idx AND o.repeat = r.repeat WHERE ifnull(o.retry, 0) < 2"
            ).fetchall()
            return {*found, *connection.execute("SELECT idx, repeat, request FROM calls").fetchall()}

    def _stored(self) -> set[Place]:
        path = self.run_dir / FILE_NAME
        if not path.is_file():
            return set()
        with Snapshot(path) as snapshot:
            query = "SELECT idx, repeat, request FROM responses UNION SELECT idx, repeat, request FROM calls"
            return set(snapshot._connection.execute(query).fetchall())

    def _spent_before(self) -> Spend:
        """Return what the session that has just begun takes earlier ones to have spent."""
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            return spent_before(snapshot)

    def _lost(self) -> list[tuple[int, str]]:
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            query = "SELECT idx, json_extract(outcome, '$.kind') FROM outcomes WHERE retry = 2"
            return snapshot._connection.execute(query).fetchall()


def simulated_answer(given: ScorerInput) -> dict[str, Any]:
    """Score an answer; some samples make this scorer raise."""
    if given.metadata["kind"] == "raises":
        raise ValueError("the scorer does not like this sample")
    return {"correct": given.response == given.target, "length": len(given.response)}


def plan_of(script: Script, config: RunConfig) -> Plan:
    """Return the plan of the world's only benchmark."""

    def rows() -> Iterator[dict[str, Any]]:
        for number, kind in enumerate(script.kinds):
            turns = [f"sample {number}, turn {turn}" for turn in range(3 if kind == "turns" else 1)]
            yield {"id": f"s{number}", "turns": turns, "target": f"t{number}", "kind": kind, "part": f"p{number % 2}"}

    benchmark = Benchmark(
        name="simulated",
        description="Samples of a world.",
        dataset=lambda: list(rows()),
        prompt=load_template("{turn}"),
        scorer=exact_match if script.scorers == "own" else simulated_answer,
        turns_field="turns",
        category_field="part",
    )
    return _plan(config, config.benchmarks[0], benchmark, "simulated", False)


def config_of(script: Script, concurrency: int, cap: tuple[str, float] | None) -> RunConfig:
    """Return the configuration of a session."""
    price = {"input": PRICE_INPUT, "output": PRICE_OUTPUT}
    budget = {} if cap is None else {cap[0]: int(cap[1]) if cap[0] != "max_cost" else cap[1]}
    endpoint = {
        "url": "http://simulated/v1",
        "model": "m",
        "send_sample_id": True,
        "first_byte_timeout_seconds": FIRST_BYTE_SECONDS,
        "outage_seconds_max": script.outage_seconds_max,
    }
    engine = {
        "concurrency": concurrency,
        "drain_seconds": script.drain_seconds,
        "scorer_timeout_seconds": _SCORER_SECONDS,
    }
    return RunConfig.model_validate(
        {
            "endpoint": endpoint,
            "benchmarks": [{"name": "simulated", "repeats": script.repeats}],
            "generation": {"max_tokens": MAX_TOKENS, "seed": script.stream_seed},
            "engine": engine,
            "budget": {**budget, "prices": {"m": price}},
        }
    )


@contextmanager
def _nobody_watches(*_: Any, **__: Any) -> Iterator[Observer]:
    yield NOBODY
