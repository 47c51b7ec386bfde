"""What happens in one world: drawn from its seed, and nothing else.

What belongs to a sample holds for ever, so that every order of events ends in the same artifacts; what belongs to a
time ends at `faults_end`. Note: at most two samples fail as a broken endpoint does (see `_POISON_MAX`).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

from tests.simulation.acting import Acting, acting_of
from tests.simulation.judging import FIRST_JUDGED, START, Judging, judging_of
from tests.simulation.regressions import REGRESSIONS

Kind = Literal[
    "right", "wrong", "length", "empty", "filtered", "context", "refused", "poison", "raises", "hangs", "asks", "turns"
]
Trouble = Literal["none", "kill", "kill_at_commit", "kill_at_write", "signal", "disk_full"]
Profile = Literal["mixed", "outages", "crashes", "limits"]
Scored = Literal["simulated", "own"]
Damage = Literal["none", "texts", "garbage"]
"""What happens to a cache between two runs: nothing, other texts under the old digests, a file that is not a database."""

_POISON_MAX = 2
"""Three samples that fail with every attempt cannot be told from an endpoint that is down, once they alone are left."""
_SHARES: dict[Kind, float] = {
    "right": 40, "wrong": 20, "length": 3, "empty": 4, "filtered": 4, "context": 4, "refused": 2, "poison": 2,
    "raises": 4, "hangs": 2, "asks": 6, "turns": 8,
}  # fmt: skip
TRANSIENT = (
    "refused", "hung_up", "lost", "lost", "status_500", "status_502", "status_503", "status_503_wait", "status_429",
    "status_429", "status_429_wait", "status_429_date", "silent", "error_200", "error_200", "limit_200", "malformed",
    "no_choices", "no_message", "html",
)  # fmt: skip
"""Faults of single attempts."""
OUTAGES = ("refused", "status_503", "status_502", "silent", "lost_connection", "error_200")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A time in which every request meets the same fault."""

    begin: float
    end: float
    fate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionScript:
    """One session: how many requests at once, and what ends it before its time."""

    concurrency: int
    trouble: Trouble = "none"
    after_seconds: float = 0.0
    """For ``kill`` and ``signal``."""
    number: int = 0
    """Of the commit or write, for ``kill_at_commit``, ``kill_at_write`` and ``disk_full``."""
    durable: bool = False
    """Whether the commit that a kill hits is on disk."""
    scoring_only: bool = False
    """Stored answers are scored and nothing is asked, as ``nel eval score`` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Everything that is decided before a world begins."""

    seed: int
    profile: Profile
    kinds: tuple[Kind, ...]
    """Of each sample."""
    repeats: int
    stream_seed: int | None
    """Of the generation: with one, repeats differ in their bodies."""
    latency: float
    tail: float
    """Share of attempts that take twenty times as long."""
    faults: float
    """Share of attempts that fail, until `faults_end`."""
    windows: tuple[Window, ...]
    requests_per_second: float | None
    """The endpoint's limit, until `faults_end`."""
    faults_end: float
    sessions: tuple[SessionScript, ...]
    last_concurrency: int
    commit_seconds: float
    outage_seconds_max: float
    drain_seconds: float
    cap: tuple[str, float] | None
    """Name and value of a budget, raised whenever it is spent."""
    scorers: Scored
    scorer_faults: float
    judging: Judging | None = None
    caching: Damage | None = None
    """Answers are cached for a second run; what happens to the cache between the two. None: there is no cache."""
    rescored_at: int | None = None
    """From this session on another scorer scores; None: the same all along."""
    acting: Acting | None = None
    """What the model does with tools; None: it answers in text."""

    def again(self) -> Script:
        """Return a second run of the same samples after the trouble of the first, with one session cut short."""
        return replace(self.clean(), caching=self.caching, sessions=self.sessions[:1])

    def is_rescored(self, session: int) -> bool:
        """Return whether a session scores with the other scorer."""
        return self.rescored_at is not None and session >= self.rescored_at

    @property
    def sessions_min(self) -> int:
        """Return how many sessions there are at least."""
        replaced_at = 0 if self.judging is None else self.judging.replaced_at
        return max(len(self.sessions) if self.rescored_at is not None else 0, replaced_at + 1)

    def clean(self) -> Script:
        """Return the same samples in a world without any trouble."""
        return replace(
            self, faults=0.0, windows=(), requests_per_second=None, faults_end=START, sessions=(), cap=None,
            tail=0.0, scorer_faults=0.0, last_concurrency=8, commit_seconds=0.001, caching=None,
            rescored_at=None if self.rescored_at is None else 0,
            judging=None if self.judging is None else self.judging.clean(),
            acting=None if self.acting is None else self.acting.clean(),
        )  # fmt: skip

    def slow(self) -> Script:
        """Return the same samples, asked one at a time by sessions without trouble; that of judges stays."""
        return replace(
            self, faults=0.0, windows=(), requests_per_second=None, faults_end=START, sessions=(), cap=None,
            tail=0.0, scorer_faults=0.0, last_concurrency=1, rescored_at=None,
        )  # fmt: skip

    @property
    def calm_after(self) -> float:
        """Return when the last fault of anybody is over."""
        return max(self.faults_end, START if self.judging is None else self.judging.faults_end)


def script_of(seed: int) -> Script:
    rng = random.Random(seed)
    profile: Profile = rng.choices(("mixed", "outages", "crashes", "limits"), (60, 15, 15, 10))[0]
    concurrency = rng.choice((1, 2, 3, 4, 6, 8, 12, 16))
    scorers: Scored = "own" if rng.random() < 0.2 else "simulated"
    kinds = _kinds(rng, rng.randint(20, 60), scorers)
    latency = rng.choice((0.2, 1.0, 3.0))
    repeats = rng.choice((1, 1, 1, 2)) if kinds.count("poison") <= _POISON_MAX // 2 else 1
    length = max(5.0, len(kinds) * repeats * latency / concurrency)
    windows = _windows(rng, profile, length)
    calm = profile in ("outages", "crashes")
    until = START + rng.uniform(1, 6) * length
    judging = judging_of(seed, kinds, latency, length) if scorers == "simulated" else None
    script = Script(
        seed=seed,
        profile=profile,
        kinds=kinds,
        repeats=repeats,
        stream_seed=rng.choice((None, 7)),
        latency=latency,
        tail=rng.choice((0.0, 0.02)),
        faults=0.0 if calm else rng.choice((0.02, 0.1, 0.3, 0.5)),
        windows=windows,
        requests_per_second=rng.choice((0.5, 2.0, 8.0)) if profile == "limits" else None,
        faults_end=max([until, *(window.end for window in windows)]),
        sessions=_sessions(rng, profile, concurrency, length),
        last_concurrency=rng.choice((concurrency, 1, 16)),
        commit_seconds=rng.choice((0.001, 0.05, 1.0, 4.0)),
        outage_seconds_max=1800.0 if profile == "outages" else rng.choice((60.0, 300.0, 1800.0)),
        drain_seconds=rng.choice((0.5, 5.0, 30.0)),
        cap=_cap(rng, len(kinds) * repeats),
        scorers=scorers,
        scorer_faults=0.0 if calm else rng.choice((0.0, 0.05)),
        judging=judging,
    )
    script = _varied(script, random.Random(f"variety/{seed}"))
    return script if judging is None or not judging.thronged else script.slow()


def acting_script_of(seed: int) -> Script:
    """Return the script of a seed with a model that acts, and without what belongs to other worlds."""
    script = script_of(seed)
    rng = random.Random(f"acting/{seed}")
    kinds: tuple[Kind, ...] = tuple("right" if kind in ("asks", "turns") else kind for kind in script.kinds[:20])
    sessions = tuple(replace(session, number=session.number * rng.randint(1, 8)) for session in script.sessions)
    return replace(
        script,
        kinds=kinds,
        sessions=sessions,
        cap=_cap(rng, 6 * len(kinds) * script.repeats),
        scorers="simulated",
        judging=None,
        caching=None,
        acting=acting_of(rng, len(kinds)),
    )


def _varied(script: Script, rng: random.Random) -> Script:
    """Return a script in which answers may be cached for a second run, or scored again without asking."""
    is_replaced = script.judging is not None and script.judging.replaced_at
    if script.seed < FIRST_JUDGED or script.seed in REGRESSIONS or is_replaced:
        return script
    if rng.random() < 0.2:
        return replace(script, caching=rng.choice(("none", "none", "texts", "garbage")))
    if (
        rng.random() < (0.25 if script.judging is None else 0.4)
        and script.scorers == "simulated"
        and script.profile != "outages"
    ):
        return _rescored(script, rng)
    return script


def _rescored(script: Script, rng: random.Random) -> Script:
    """Return a script with sessions that only score, from one of which on the scorer may be another."""
    sessions = list(script.sessions)
    for _ in range(rng.choice((1, 1, 2))):
        trouble: Trouble = rng.choice(("none", "none", "none", "kill", "kill_at_commit", "kill_at_write", "disk_full"))
        scoring = SessionScript(
            concurrency=rng.choice((1, 4, 16)),
            trouble=trouble,
            after_seconds=rng.uniform(0, 5),
            number=rng.randint(1, 6),
            durable=rng.random() < 0.5,
            scoring_only=True,
        )
        sessions.insert(rng.randint(1, len(sessions)) if sessions else 0, scoring)
    if not script.sessions:
        first = SessionScript(concurrency=script.last_concurrency, trouble="kill", after_seconds=rng.uniform(2, 30))
        sessions.insert(0, first)
    first_scoring = next(number for number, session in enumerate(sessions) if session.scoring_only)
    rescored_at = first_scoring if rng.random() < 0.5 else None
    return replace(script, sessions=tuple(sessions), rescored_at=rescored_at)


def _kinds(rng: random.Random, n: int, scorers: Scored) -> tuple[Kind, ...]:
    names, shares = list(_SHARES), list(_SHARES.values())
    kinds: list[Kind] = rng.choices(names, shares, k=n)
    poison = 0
    for index, kind in enumerate(kinds):
        poison += kind == "poison"
        if kind == "poison" and poison > _POISON_MAX:
            kinds[index] = "right"
        if scorers == "own" and kind in ("raises", "hangs", "asks"):
            kinds[index] = "wrong"
    kinds[0] = "right" if kinds[0] in ("poison", "refused") else kinds[0]
    return tuple(kinds)


def _windows(rng: random.Random, profile: Profile, length: float) -> tuple[Window, ...]:
    if profile == "crashes":
        return ()
    chances = {"mixed": 0.5, "outages": 1.0, "limits": 0.2}
    windows: list[Window] = []
    begin = START
    while rng.random() < chances[profile] and len(windows) < 2:
        begin += rng.uniform(0.1, 0.7) * length
        end = begin + rng.choice((20.0, 90.0, 240.0, 600.0))
        fate = rng.choice(OUTAGES)
        if profile == "mixed" and rng.random() < 0.2:
            fate = "quota"
        windows.append(Window(begin=begin, end=end, fate=fate))
        begin = end
    return tuple(windows)


def _sessions(rng: random.Random, profile: Profile, concurrency: int, length: float) -> tuple[SessionScript, ...]:
    if profile == "outages":
        return ()
    troubles: tuple[Trouble, ...] = ("kill", "kill_at_commit", "kill_at_write", "signal", "disk_full")
    sessions = []
    for _ in range(rng.choice((0, 1, 1, 2, 3) if profile != "crashes" else (1, 2, 3, 4))):
        sessions.append(
            SessionScript(
                concurrency=concurrency,
                trouble=rng.choices(troubles, (5, 5, 1, 3, 2))[0],
                after_seconds=rng.uniform(0, 0.8) * length,
                number=rng.randint(1, 15),
                durable=rng.random() < 0.5,
            )
        )
        concurrency = rng.choice((concurrency, concurrency, 1, 2, 5, 16))
    return tuple(sessions)


def _cap(rng: random.Random, n: int) -> tuple[str, float] | None:
    if rng.random() < 0.75:
        return None
    name = rng.choice(("max_requests", "max_tokens_total", "max_cost"))
    share = rng.uniform(0.3, 1.2) * n
    caps = {"max_requests": share, "max_tokens_total": share * 120, "max_cost": round(share * 0.0002, 6)}
    return name, caps[name]
