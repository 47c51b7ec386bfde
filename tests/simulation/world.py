"""One world: a run with all its sessions, killed, stopped and resumed as its script says, until it is done.

Everything but the script's own parts is nel's: preparation, pipeline, client, gate, store, artifacts.
"""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nel.artifacts.write import write_artifacts
from nel.config.identity import ALLOW_JUDGE
from nel.config.schema import RunConfig
from nel.core.observer import UNOBSERVED, Observer
from nel.core.strict_json import loads
from nel.engine.executors import ScorerPool, ScoringWork
from nel.engine.judging.judges import Judges
from nel.engine.planning.plan import Plan
from nel.engine.progress import Progress
from nel.engine.run import run_session
from nel.engine.scorers.dispatch import Scorers
from nel.engine.session_spec import Runtime, SessionSpec
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.stopping.stop_signals import StopSignals
from nel.engine.store.projections.replies import has_reply
from nel.engine.store.rows import JUDGE, MODEL
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.engine.store.spending import spent_before
from nel.errors import ResumeRefused
from nel.models.budget import Spend
from nel.models.pacing import Gate
from tests.simulation.endpoint import (
    POISONED,
    ScriptedEndpoint,
    expected,
)
from tests.simulation.judge_endpoint import JudgeEndpoint, SelfJudgingEndpoint, Wire, is_readable
from tests.simulation.judging import TRANSIENT_KINDS
from tests.simulation.loop import Clock, Crash, LoopSignals, VirtualLoop, run_virtually
from tests.simulation.parts import SimulatedScorers, SimulatedStore
from tests.simulation.script import START, Script, SessionScript
from tests.simulation.setting import config_of, narrowed, plan_of
from tests.simulation.tools import SimulatedTools

SECONDS_TO_FINISH = 3600.0
"""After the last fault, or the start of the session where that is later; for each question about an answer."""
_QUESTIONS_OF_EPISODE = 10
_SESSIONS_MAX = 150
_VERDICTS = "role = 1 AND void = 0 AND attempt = (SELECT round FROM benchmarks WHERE id = benchmark)"
_ASKED = f"iif(role = {MODEL}, 'step-' || attempt || '-' || number, request)"
"""What names a request beside its sample: its body, or the step of an episode."""
_BLOCKED_SECONDS = 5.0
_HELD_UP_SECONDS = 45.0
"""By scorers that hang, and by a judge that is silent until those who wait for it are turned away."""
Place = tuple[int, int, str]


@dataclass(slots=True, kw_only=True)
class Past:
    """What a session left, for the checks."""

    number: int
    trouble: str
    ending: ExitStatus | None
    """None after a kill."""
    began: float
    ended: float
    committed_before: set[Place]
    """Answers that were on disk when it began."""
    committed_after: set[Place]
    traffic: dict[str, Traffic]
    """By endpoint."""
    counted: int
    """Outcomes that its progress showed."""
    outcomes_committed: int
    known: Spend | None
    """What the run knew of its spending before, None where the session did not come so far."""
    stored_after: set[Place]
    """All that was answered or given up in it, as far as it is on disk."""
    cap: tuple[str, float] | None
    lost: list[tuple[int, str]] = field(default_factory=list)
    """Samples that ended unscored by the endpoint, with the kind."""
    unjudged: list[tuple[int, str]] = field(default_factory=list)
    """Samples that ended unscored by their judges, with the kind."""
    unanswered: int = 0
    """Samples that the model was to answer and that have no response on disk."""
    scoring_only: bool = False
    scorer: str = ""
    """The digest of the scorer that run.db names when it is over."""
    asked: int = 0
    """Requests of any kind that it sent."""
    scored: dict[tuple[int, int], float] = field(default_factory=dict)
    """The score of each (sample, repeat) that has one, as it was on disk then."""


@dataclass(slots=True, kw_only=True)
class Traffic:
    """What passed between a session and one endpoint."""

    concurrency: int
    most_in_flight: int
    in_flight_at_end: list[Place]
    permits_at_end: int


class World:
    """A seed's run in a directory of its own."""

    def __init__(self, script: Script, root: Path, *, cache: Path | None = None, shard: str | None = None) -> None:
        self.script = script
        self.shard = shard
        self.cache = None if script.caching is None else cache or root / "cache"
        self.run_dir = root / "run"
        self.run_dir.mkdir(parents=True)
        self.clock = Clock(now=START)
        judging = script.judging
        self.judges: list[JudgeEndpoint] = []
        self.endpoint = ScriptedEndpoint(script, self.clock)
        if judging is not None and judging.itself:
            self.endpoint = SelfJudgingEndpoint(script, judging, self.clock)
        elif judging is not None:
            self.judges = [JudgeEndpoint(script, judging, self.clock, member) for member in range(judging.size)]
            if judging.replaced_at:
                self.judges += [
                    JudgeEndpoint(script, judging, self.clock, member, is_predecessor=True)
                    for member in range(judging.size)
                ]
        self.spent = Spend()
        self.endpoints: list[ScriptedEndpoint] = [self.endpoint, *self.judges]
        self.past: list[Past] = []
        self.violations: list[str] = []
        self.cap = script.cap
        self._rng = random.Random(f"world/{script.seed}")
        self.effects: list[str] = []
        """What tools did for good, in all sessions."""
        self._tools = None if script.acting is None else SimulatedTools(script.acting, self._rng)
        self.endpoint.run_id = self._run_id
        self._store: SimulatedStore | None = None
        self._progress = Progress()
        self._at_end: dict[str, list[Place]] = {}
        self._blocked_since: dict[bool, float] = {}
        """Since when answers are held up by judges that are known to be down, and by any."""
        self._known: Spend | None = None

    def run(self) -> None:
        """Run sessions until one ends well and nothing is left for another to do; write the artifacts."""
        for number in range(_SESSIONS_MAX):
            scripts = self.script.sessions
            last = SessionScript(concurrency=self.script.last_concurrency)
            past = self._session(number, scripts[number] if number < len(scripts) else last)
            self.past.append(past)
            ending = past.ending
            is_last = number + 1 >= self.script.sessions_min and not past.scoring_only
            if is_last and ending is not None and ending.exit_code == 0 and not self._mendable():
                write_artifacts(self.run_dir)
                self.spent = self._spent_before()
                return
            if ending is not None and ending.cause == "budget" and self.cap is not None:
                self.cap = (self.cap[0], self.cap[1] * 1.5 + 20)
            self.clock.now += 1.0 if past.trouble != "none" else self._rng.uniform(10, 120)
        self.violations.append(f"liveness: not done after {_SESSIONS_MAX} sessions, the last ended {ending}")

    def _mendable(self) -> bool:
        """Return whether an outcome is unscored for a reason that lies in the time and not in the sample."""
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            query = (
                "SELECT idx, json_extract(response, '$.kind'), json_extract(response, '$.detail'),"
                f" json_extract(response, '$.details.judgements') FROM steps WHERE {_VERDICTS} AND again > 0"
            )
            rows = snapshot._connection.execute(query).fetchall()
        for idx, kind, detail, judgements in rows:
            is_poison = self.script.kinds[idx] == "poison"
            is_short = kind == "no_quorum" and any(fault in detail for fault in TRANSIENT_KINDS)
            is_short |= any(f'"{fault}"' in (judgements or "") for fault in TRANSIENT_KINDS)
            is_scored = kind is None  # and kept for a resume, since some judge gave no grade
            is_other = not is_scored and expected(self.script, idx) != ("unscored", kind)
            if is_other or (is_poison and not is_scored and detail != POISONED) or is_short:
                return True
        return False

    def _session(self, number: int, session: SessionScript) -> Past:
        rng = random.Random(f"session/{self.script.seed}/{number}")
        clock = self.clock
        for endpoint in self.endpoints:
            endpoint.session, endpoint.dead, endpoint.most_in_flight = number, False, 0
        began = clock.now
        before, self._known = self.committed(), None
        self._store, self._progress = None, Progress()
        if session.scoring_only and not self._has_begun():
            session = replace(session, scoring_only=False)
        replaced_at = self.script.judging.replaced_at if self.script.judging is not None else 0
        config = config_of(
            self.script, session.concurrency, self.cap, cache=self.cache, by_predecessor=number < replaced_at
        )
        config = config.model_copy(update={"shard": self.shard})
        ending: ExitStatus | None = None
        asked = sum(endpoint.fetched for endpoint in self.endpoints)
        with suppress(Crash), narrowed(self.script, self._tools):
            plans = [plan_of(self.script, config, self.effects, is_rescored=self.script.is_rescored(number))]
            if replaced_at and number == replaced_at:
                self._see_refusal(config, plans, rng)
            self._store, self._at_end, self._blocked_since = None, {}, {}
            spec = SessionSpec(
                run_dir=self.run_dir,
                config=config,
                plans=plans,
                progress=self._progress,
                allowed_changes=frozenset({ALLOW_JUDGE} if 0 < replaced_at <= number else ()),
                scoring_only=session.scoring_only,
                runtime=self._runtime(session, rng),
            )
            ending = run_session(spec)
        store = self._store
        return Past(
            number=number,
            trouble=session.trouble,
            ending=ending,
            began=began,
            ended=clock.now,
            committed_before=before,
            committed_after=self.committed(),
            traffic=self._traffic(session, ended=ending is not None),
            counted=self._progress.done,
            outcomes_committed=store.outcomes_committed if store is not None else 0,
            known=self._known,
            stored_after=self._stored(),
            cap=self.cap,
            lost=self._unscored("infra", 2),
            unjudged=self._unscored("judge", 1),
            unanswered=self._unanswered(),
            scoring_only=session.scoring_only,
            scorer=self._stored_scorer(),
            asked=sum(endpoint.fetched for endpoint in self.endpoints) - asked,
            scored=self._scored(),
        )

    def _see_refusal(self, config: RunConfig, plans: list[Plan], rng: random.Random) -> None:
        """See that another judge is not taken without being allowed, and that the refusal leaves the run as it was.

        It is taken while no judge has answered yet: nothing would be mixed.
        """
        if not self._has_a_verdict():
            return
        before = self._dumped()
        session = SessionScript(concurrency=1)
        try:
            run_session(
                SessionSpec(
                    run_dir=self.run_dir,
                    config=config,
                    plans=plans,
                    progress=Progress(),
                    runtime=self._runtime(session, rng),
                )
            )
        except ResumeRefused:
            if self._dumped() != before:
                self._note("judge change: the refused session left its mark on run.db")
        else:
            self._note("judge change: another judge went on where the first had stopped, without permission")

    def _has_begun(self) -> bool:
        """Return whether a session came so far that its configuration is stored."""
        path = self.run_dir / FILE_NAME
        if not path.is_file():
            return False
        with Snapshot(path) as snapshot:
            return snapshot.meta("config") is not None

    def _run_id(self) -> str:
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            return str(snapshot.meta("run_id") or self.run_dir.name)

    def _has_a_verdict(self) -> bool:
        """Return whether a judge's answer is stored."""
        if not self._has_begun():
            return False
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            return any(has_reply(snapshot, key) for key, *_ in snapshot.benchmarks())

    def _stored_scorer(self) -> str:
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            return next((str(plan["scorer"]["sha256"]) for *_, plan in snapshot.benchmarks() if plan), "")

    def _dumped(self) -> list[str]:
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            return list(snapshot._connection.iterdump())

    def _scored(self) -> dict[tuple[int, int], float]:
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            query = (
                "SELECT idx, repeat, json_extract(response, '$.reward') FROM steps"
                f" WHERE {_VERDICTS} AND json_extract(response, '$.state') = 'scored'"
            )
            return {(idx, repeat): reward for idx, repeat, reward in snapshot._connection.execute(query)}

    def _traffic(self, session: SessionScript, *, ended: bool) -> dict[str, Traffic]:
        gates = self._gates()
        judging = self.script.judging
        own = judging.concurrency if judging is not None else None
        return {
            endpoint.model: Traffic(
                concurrency=(own if endpoint is not self.endpoint else None) or session.concurrency,
                most_in_flight=endpoint.most_in_flight,
                in_flight_at_end=self._at_end.get(endpoint.model, []),
                permits_at_end=gates[endpoint.model].in_flight if ended and endpoint.model in gates else 0,
            )
            for endpoint in self.endpoints
        }

    def _gates(self) -> dict[str, Gate]:
        """Return the gate of each endpoint that the session has opened."""
        gates = {} if self._progress.gate is None else {self.endpoint.model: self._progress.gate}
        judges = self._progress.judges
        judge_endpoints = judges._judge_endpoints.values() if isinstance(judges, Judges) else ()
        return {**{bench.client.endpoint.model: bench.client.gate for bench in judge_endpoints}, **gates}

    def _runtime(self, session: SessionScript, rng: random.Random) -> Runtime:
        def open_store(path: Path) -> SimulatedStore:
            store = self._store = SimulatedStore(path, self.script, session, rng)
            store.killed = self._dead
            return store

        def scorers(work: ScoringWork) -> ScorerPool:
            if self.script.scorers == "own":
                return Scorers(work.benchmarks)
            return SimulatedScorers(work.benchmarks, self.script, rng, lambda: self.clock.now)

        return Runtime(
            signals=lambda: StopSignals(watch=LoopSignals),
            run=lambda main: self._run(main, session),
            store=open_store,
            scorers=scorers,
            observing=_unobserved,
            transport=Wire(self.endpoint, self.judges),
            jitter=rng.random,
        )

    def _dead(self) -> None:
        for endpoint in self.endpoints:
            self._at_end[endpoint.model] = [sent.place for sent in endpoint.in_flight.values() if sent.counts]
            endpoint.dead = True

    def _run(self, main: Coroutine[Any, Any, ExitStatus], session: SessionScript) -> ExitStatus:
        store = self._store
        assert store is not None

        def started(loop: VirtualLoop) -> None:
            n_questions = 1 if self.script.judging is None else self.script.judging.n_questions
            n_questions = n_questions if self.script.acting is None else _QUESTIONS_OF_EPISODE
            self.clock.deadline = max(self.clock.now, self.script.calm_after) + SECONDS_TO_FINISH * n_questions
            self._known = self._spent_before()
            loop.when_quiet(self._look)
            loop.set_exception_handler(self._unhandled)
            if session.trouble == "kill":
                loop.call_later(session.after_seconds, store.kill)
            elif session.trouble == "signal":
                number = signal.SIGINT if session.number % 2 else signal.SIGTERM
                loop.call_later(session.after_seconds, loop.deliver, number)

        def died() -> None:
            for endpoint in self.endpoints:
                endpoint.dead = True

        return run_virtually(main, self.clock, started=started, died=died)

    def _unhandled(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self._note(f"loop: {context.get('message')}: {context.get('exception')!r}")

    def _look(self) -> None:
        """Compare permits with what they stand for, whenever everything has come to rest."""
        store = self._store
        if store is None:
            return
        gates = self._gates()
        for endpoint in self.endpoints:
            gate = gates.get(endpoint.model)
            if gate is None:
                continue
            standing = len(endpoint.in_flight) + store.holding(endpoint.model)
            exact = self.cap is None
            if gate.in_flight < standing or (exact and gate.in_flight != standing):
                self._note(
                    f"I5 permits of {endpoint.model}: {gate.in_flight} held, {standing} answers in flight or on their "
                    "way to disk"
                )
        if self.script.judging is not None:
            self._look_for_waiting(gates, store)

    def _look_for_waiting(self, gates: Mapping[str, Gate], store: SimulatedStore) -> None:
        """Check that no request to the model waits for a judge that is down (fault 38)."""
        model = gates.get(self.endpoint.model)
        down = [name for name, gate in gates.items() if gate is not model and not gate.is_endpoint_up]
        asks = model is not None and (model.in_flight or model.n_backing_off or model._waiting)
        waits = self._progress.stage == "running" and self._progress.in_flight and not asks
        limits = {True: _BLOCKED_SECONDS, False: _HELD_UP_SECONDS}
        for is_known, seconds in limits.items():
            if not waits or store.is_writing or (is_known and not down):
                self._blocked_since.pop(is_known, None)
            elif self.clock.now - self._blocked_since.setdefault(is_known, self.clock.now) > seconds:
                who = ", ".join(down) or "judges that say nothing"
                self._note(f"fault 38: {len(self._progress.in_flight)} who ask the model wait for {who}")

    def _note(self, violation: str) -> None:
        if len(self.violations) < 20:
            self.violations.append(f"{violation} (at {self.clock.now:.2f} s, session {self.endpoint.session})")

    def committed(self) -> set[Place]:
        """Return every answer on disk that no resume may ask for again."""
        path = self.run_dir / FILE_NAME
        if not path.is_file():
            return set()
        with Snapshot(path) as snapshot:
            connection = snapshot._connection
            found = connection.execute(
                "SELECT idx, repeat, request FROM steps r WHERE role = 0 AND void = 0 AND NOT EXISTS (SELECT 1 FROM"
                f" steps o WHERE o.idx = r.idx AND o.repeat = r.repeat AND {_VERDICTS} AND again = 2)"
            ).fetchall()
            query = f"SELECT idx, repeat, {_ASKED}, role, response FROM steps WHERE role > 1 AND void = 0"
            calls = connection.execute(query).fetchall()
            usable = [call for call in calls if call[3] != JUDGE or is_readable(loads(call[4]))]
            return {*found, *(call[:3] for call in usable)}

    def steps_on_disk(self) -> set[Place]:
        """Return every step of an episode that has an answer of the model."""
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            query = f"SELECT idx, repeat, {_ASKED} FROM steps WHERE role = {MODEL} AND fault IS NULL"
            return set(snapshot._connection.execute(query).fetchall())

    def _stored(self) -> set[Place]:
        path = self.run_dir / FILE_NAME
        if not path.is_file():
            return set()
        with Snapshot(path) as snapshot:
            newest = "session = (SELECT max(id) FROM sessions)"
            query = f"SELECT DISTINCT idx, repeat, {_ASKED} FROM steps WHERE role <> 1 AND void = 0 AND {newest}"
            return set(snapshot._connection.execute(query).fetchall())

    def _spent_before(self) -> Spend:
        """Return what the session that has just begun takes earlier ones to have spent."""
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            return spent_before(snapshot.sessions())

    def _unscored(self, cause: str, retry: int) -> list[tuple[int, str]]:
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            query = (
                f"SELECT idx, json_extract(response, '$.kind') FROM steps WHERE {_VERDICTS}"
                " AND again = ? AND json_extract(response, '$.cause') = ?"
            )
            return snapshot._connection.execute(query, (retry, cause)).fetchall()

    def _unanswered(self) -> int:
        with Snapshot(self.run_dir / FILE_NAME) as snapshot:
            query = "SELECT count(*) FROM steps WHERE role = 0 AND void = 0"
            answered = snapshot._connection.execute(query).fetchone()[0]
        return len(self.script.kinds) * self.script.repeats - int(answered)


@contextmanager
def _unobserved(*_: Any, **__: Any) -> Iterator[Observer]:
    yield UNOBSERVED
