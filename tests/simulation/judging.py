"""What judges do in a world: drawn apart from the script of a seed, so a seed's model stays what it is without them.

What a judge says of a sample holds for ever, as what the model says; outages and faults end, and then every sample gets
the verdict that its kind stands for. Note: a panel that may do without a member may also do without one that was down;
then the record says so, and the score is the same all the same.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace
from typing import Final, Literal

from tests.simulation.regressions import REGRESSIONS

START = 1000.0
FIRST_JUDGED = 200
"""Seeds below this are worlds without judges, as are those that found something before there were any."""
_UNJUDGED = frozenset({1672, 1876, 5163})
_SHARE = 1 / 3
_LATENCY_MAX = 24.0
"""Seconds; with half as much again it is still in time for the first byte."""

Way = Literal["rule", "handed", "asks", "asks_both", "hides"]
"""How a sample gets its score: its scorer's own, handed over, asked for, asked for with the model too, asked for by a
scorer that hides it when its judge fails."""
Temper = Literal[
    "plain",
    "hesitant",
    "one_mute",
    "dissent",
    "prose",
    "cut",
    "empty",
    "unknown",
    "filtered",
    "bad_request",
    "seated",
    "last_mute",
]
"""How a sample is judged: as it is; after one reply that cannot be read; by all but the first judge; against the first
judge; never, for the reason named; of a pair, always for the first seat; but for the last of several questions."""

Template = Literal["binary_qa", "rubric", "pairwise"]
POINTS: Final = (2.0, 1.0, -1.0)
"""Of the criteria of a rubric."""

_WAYS: dict[Way, float] = {"rule": 20, "handed": 40, "asks": 25, "asks_both": 10, "hides": 5}
_TEMPERS: dict[Temper, float] = {
    "plain": 60, "hesitant": 12, "one_mute": 5, "dissent": 8, "prose": 4, "cut": 3, "empty": 3, "unknown": 2,
    "filtered": 2, "bad_request": 2,
}  # fmt: skip
_FATES = ("refused", "status_503", "status_502", "silent", "lost_connection", "error_200")
MUTE: dict[Temper, str] = {
    "last_mute": "no_verdict",
    "prose": "no_verdict", "cut": "truncated", "empty": "empty", "unknown": "no_verdict", "filtered": "refused",
    "bad_request": "bad_request",
}  # fmt: skip
"""The kind of the fault that each leaves."""
TRANSIENT_KINDS = (
    "outage", "connection", "server_error", "rate_limit", "timeout", "first_byte_timeout", "malformed", "quota",
)  # fmt: skip
"""Faults of a judge that may be gone in another session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A time in which a judge is down."""

    begin: float
    end: float
    fate: str
    member: int | None
    """Of the panel; None for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Everything that is decided of judges before a world begins."""

    ways: tuple[Way, ...]
    """Of each sample."""
    tempers: tuple[Temper, ...]
    size: int
    """Of the panel."""
    quorum: int | None
    repeats: int
    reasks: int
    latency: float
    tail: float
    faults: float
    outages: tuple[Outage, ...]
    faults_end: float
    concurrency: int | None
    outage_seconds_max: float
    down_before: int
    """Until this session the judges of `down_members` are down, however long they are waited for."""
    down_members: tuple[int, ...]
    restarts: bool
    """A scorer that hangs takes the process of all scorers with it; the others begin again."""
    narrow: bool
    """Few samples may wait for a judge or a scorer, so that those of a world fill the room that there is."""
    itself: bool = False
    """The evaluated model is its own judge."""
    template: Template = "binary_qa"
    replaced_at: int = 0
    """From this session on the panel judges; before, one that says the opposite. 0: the panel from the start."""
    crammed: bool = False
    """The judges want more slots than there are."""
    thronged: bool = False
    """As many samples are with the judges as may be when those go down, and what is in flight is lost."""

    def clean(self) -> Judging:
        """Return the same judges in a world without any trouble."""
        return replace(
            self, tail=0.0, faults=0.0, outages=(), down_before=0, concurrency=None, narrow=False, restarts=False,
            replaced_at=0, crammed=False,
        )  # fmt: skip

    @property
    def needed(self) -> int:
        """Return how many opinions make a grade."""
        return self.quorum or self.size // 2 + 1

    @property
    def n_questions(self) -> int:
        """Return how many questions there are about one answer."""
        return {"binary_qa": 1, "rubric": len(POINTS), "pairwise": 2}[self.template]

    def worth(self, idx: int) -> float:
        """Return the score of a sample that an honest judge comes to."""
        if self.template == "rubric":
            earned = sum(points for number, points in enumerate(POINTS) if is_right(idx, number))
            return earned / sum(points for points in POINTS if points > 0)
        return 0.5 if self.tempers[idx] == "seated" else float(is_right(idx))

    def temper(self, idx: int, member: int) -> Temper:
        """Return how one judge takes a sample."""
        temper = self.tempers[idx]
        if temper == "one_mute":
            return "prose" if member == 0 else "plain"
        if temper == "dissent":
            return "dissent" if member == 0 and self.size > 1 else "plain"
        return "prose" if temper == "hesitant" and not self.reasks else temper

    def fault(self, idx: int) -> str | None:
        """Return why a sample stays unscored once every judge could be asked: a kind, None where it is scored."""
        faults = [MUTE.get(self.temper(idx, member)) for member in range(self.size)]
        missing = [fault for fault in faults if fault is not None]
        if self.size - len(missing) >= self.needed:
            return None
        return faults[0] if self.size == 1 else "no_quorum"


def judges_named(judging: Judging) -> tuple[str, ...]:
    """Return whom scorers ask by name: the model as its own judge, or none by name."""
    return ("grader",) if judging.itself else ()


def is_right(idx: int, question: int = 0) -> bool:
    """Return what an honest judge says of a sample, or of one criterion of it."""
    name = f"sample {idx}" if not question else f"sample {idx}, criterion {question}"
    return bool(hashlib.sha256(name.encode()).digest()[0] % 3)


def judging_of(seed: int, kinds: tuple[str, ...], latency: float, length: float) -> Judging | None:
    """Return the judges of a seed's world, None where it has none.

    Args:
        seed: Of the world.
        kinds: Of its samples.
        latency: Of the model, in seconds.
        length: What the model needs for all samples, in seconds.
    """
    rng = random.Random(f"judges/{seed}")
    if seed < FIRST_JUDGED or seed in _UNJUDGED or rng.random() >= _SHARE:
        return None
    size = rng.choice((1, 1, 3))
    calm = rng.random() < 0.25
    outages = () if calm else _outages(rng, size, length)
    faults_end = max([START + rng.uniform(1, 4) * length, *(outage.end for outage in outages)])
    down = rng.random() < 0.2
    drawn = Judging(
        ways=tuple(rng.choices(list(_WAYS), list(_WAYS.values()), k=len(kinds))),
        tempers=tuple(rng.choices(list(_TEMPERS), list(_TEMPERS.values()), k=len(kinds))),
        size=size,
        quorum=rng.choice((None, None, size)),
        repeats=rng.choice((1, 1, 1, 3)),
        reasks=rng.choice((1, 1, 1, 0, 2)),
        latency=latency * rng.choice((0.2, 1.0, 4.0)),
        tail=rng.choice((0.0, 0.02)),
        faults=0.0 if calm else rng.choice((0.0, 0.05, 0.3)),
        outages=outages,
        faults_end=faults_end,
        concurrency=rng.choice((None, None, 1, 2, 16)),
        outage_seconds_max=rng.choice((60.0, 300.0, 1800.0)) if not down else rng.choice((20.0, 90.0)),
        down_before=rng.choice((1, 2)) if down else 0,
        down_members=tuple(range(size)) if rng.random() < 0.7 else (0,),
        narrow=rng.random() < 0.5,
        restarts=rng.random() < 0.5,
    )
    if drawn.concurrency == 16 and rng.random() < 0.7:
        drawn = replace(drawn, latency=min(4 * drawn.latency, _LATENCY_MAX))
    if seed not in REGRESSIONS:
        drawn = _varied(drawn, random.Random(f"templates/{seed}"))
    if rng.random() < 0.15:
        return _thronged(rng, drawn, latency)
    return _of_itself(drawn) if rng.random() < 0.15 else drawn


def _varied(judging: Judging, rng: random.Random) -> Judging:
    """Return judges that may ask in another way, or that take the place of another one in the midst of a run."""
    template: Template = rng.choices(("binary_qa", "rubric", "pairwise"), (50, 25, 25))[0]
    tempers = list(judging.tempers)
    for idx, temper in enumerate(tempers):
        lot = rng.random()
        if temper == "plain" and template != "binary_qa" and lot < 0.05:
            tempers[idx] = "last_mute"
        elif temper == "plain" and template == "pairwise" and lot < 0.2:
            tempers[idx] = "seated"
    replaced_at = rng.choice((1, 1, 2)) if rng.random() < 0.35 else 0
    return replace(
        judging,
        template=template,
        tempers=tuple(tempers),
        replaced_at=replaced_at,
        down_before=0 if replaced_at else judging.down_before,
        crammed=rng.random() < 0.5,
    )


def _of_itself(judging: Judging) -> Judging:
    """Return the same verdicts given by the evaluated model, whose troubles are then the only ones."""
    return replace(
        judging,
        size=1,
        quorum=None,
        repeats=1,
        reasks=1,
        outages=(),
        faults=0.0,
        faults_end=START,
        concurrency=None,
        down_before=0,
        replaced_at=0,
        itself=True,
    )


def _thronged(rng: random.Random, judging: Judging, latency: float) -> Judging:
    """Return judges whom many more ask at once than the model, when all of them go down."""
    begin = START + rng.uniform(8, 12) * latency + 3
    outage = Outage(begin=begin, end=begin + rng.choice((60.0, 400.0)), fate="status_503", member=None)
    return replace(
        judging,
        latency=min(12 * latency, _LATENCY_MAX),
        concurrency=64,
        outages=(outage,),
        faults_end=max(judging.faults_end, outage.end),
        narrow=True,
        thronged=True,
        replaced_at=0,
    )


def _outages(rng: random.Random, size: int, length: float) -> tuple[Outage, ...]:
    outages: list[Outage] = []
    begin = START
    while rng.random() < 0.6 and len(outages) < 3:
        begin += rng.uniform(0.0, 0.6) * length
        end = begin + rng.choice((10.0, 60.0, 240.0, 600.0))
        member = rng.choice((None, None, rng.randrange(size)))
        outages.append(Outage(begin=begin, end=end, fate=rng.choice(_FATES), member=member))
        begin = end
    return tuple(outages)
