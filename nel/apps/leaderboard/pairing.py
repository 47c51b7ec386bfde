"""Schedules the pairs of answers and the side of each, before any request. Does no I/O.

A pair has one of three outcomes: a judge is asked; an answer failed, and loses without a judge; or
an answer is missing through no fault of the model, and the pair is left out and counted. A hash
decides which of two answers is the ``response``, so that no model is on one side more often than by
chance. Depends on `nel.apps.leaderboard.entries`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from nel.apps.leaderboard.entries import BoardAnswer, BoardEntry, Key
from nel.apps.leaderboard.pairwise import LOST, TIED, WON
from nel.errors import ConfigError, did_you_mean


class AnswerPair(NamedTuple):
    """A pair of answers for the judge."""

    key: Key
    left: str
    """Label of the entry whose answer is the ``response``."""
    right: str
    """Label of the entry whose answer is the ``baseline``."""

    @property
    def id(self) -> str:
        """Return the id of the pair's row."""
        sample, repeat = self.key
        return _digest(0, sample, str(repeat), self.left, self.right).hex()[:24]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forfeit:
    """A pair that is decided without a judge, because an answer failed."""

    question: str
    repeat: int
    left: str
    right: str
    score: float
    """Score of the left one: 1, 0, or 0.5 where both failed."""
    left_failure: str | None
    right_failure: str | None


@dataclass(slots=True, kw_only=True)
class PairSchedule:
    """Every scheduled pair, by its outcome."""

    to_judge: list[AnswerPair] = field(default_factory=list)
    """Pairs for the judge; `nel.apps.leaderboard.pair_rows` reads their texts."""
    forfeits: list[Forfeit] = field(default_factory=list)
    left_out: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    """Pairs by left, right, the one without an answer (the first by name of two) and the reason."""
    n_questions: int = 0
    """Questions that all entries have."""
    n_questions_apart: int = 0
    """Questions that only some entries have; nothing is compared on them."""


def make_pairs(entries: Sequence[BoardEntry], *, baseline: str | None, seed: int) -> PairSchedule:
    """Return the scheduled pairs.

    Args:
        entries: At least two, of one benchmark.
        baseline: The model that each other one is compared with; None: all pairs of models.
        seed: Seeds the sides.

    Raises:
        ConfigError: The baseline is not an entry, or the entries have no question in common.
    """
    labels = [entry.label for entry in entries]
    if baseline is not None and baseline not in labels:
        hint = did_you_mean(baseline, labels, or_all="; there are: ")
        raise ConfigError(f'no run is called "{baseline}"{hint}')
    keys = _common(entries)
    schedule = PairSchedule(n_questions=len({sample for sample, _ in keys}))
    questions = {sample for entry in entries for sample in entry.questions}
    schedule.n_questions_apart = len(questions) - schedule.n_questions
    by_label = {entry.label: entry for entry in entries}
    meetings = list(combinations(sorted(labels), 2))
    if baseline is not None:
        meetings = [pair for pair in meetings if baseline in pair]
    for key in keys:
        for meeting in meetings:
            left, right = _sides(*meeting, key, seed)
            _add_pair(schedule, by_label[left], by_label[right], key)
    return schedule


def _common(entries: Sequence[BoardEntry]) -> list[Key]:
    in_all = set(entries[0].answers).intersection(*(entry.answers for entry in entries))
    samples = set(entries[0].questions).intersection(*(entry.questions for entry in entries))
    keys = [key for key in entries[0].answers if key in in_all and key[0] in samples]
    if not keys:
        sizes = ", ".join(f"{entry.label} {len(entry.questions)}" for entry in entries)
        raise ConfigError(
            f"the runs have no sample id in common ({sizes} samples); recorded answers need rows"
            " with ids of their own"
        )
    return keys


def _sides(model: str, rival: str, key: Key, seed: int) -> tuple[str, str]:
    """Return the label of the response and that of the baseline, by the parity of a hash."""
    is_odd = _digest(seed, "side", *map(str, key), model, rival)[0] % 2
    return (model, rival) if is_odd else (rival, model)


def _add_pair(schedule: PairSchedule, left: BoardEntry, right: BoardEntry, key: Key) -> None:
    sample, repeat = key
    left_answer, right_answer = left.answers[key], right.answers[key]
    gaps = sorted(
        (side.label, str(side.answers[key].missing))
        for side in (left, right)
        if side.answers[key].missing
    )
    if gaps:  # where both are missing, the first by name is the one to blame
        schedule.left_out[left.label, right.label, *gaps[0]] += 1
    elif left_answer.failure or right_answer.failure:
        schedule.forfeits.append(
            Forfeit(
                question=sample,
                repeat=repeat,
                left=left.label,
                right=right.label,
                score=_forfeit_score(left_answer, right_answer),
                left_failure=left_answer.failure,
                right_failure=right_answer.failure,
            )
        )
    else:
        schedule.to_judge.append(AnswerPair(key, left.label, right.label))


def _forfeit_score(left_answer: BoardAnswer, right_answer: BoardAnswer) -> float:
    if left_answer.failure and right_answer.failure:
        return TIED
    return LOST if left_answer.failure else WON


def _digest(seed: int, *parts: str) -> bytes:
    # With their lengths, so that no other parts give the same text.
    text = "\0".join([str(seed), *(f"{len(piece)}:{piece}" for piece in parts)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def pairing_json(pairing: PairSchedule) -> dict[str, Any]:
    """Return the pairs without a judge, and counts, as JSON values."""
    return {
        "forfeits": [asdict(forfeit) for forfeit in pairing.forfeits],
        "left_out": left_out_json(pairing.left_out),
        "n_questions": pairing.n_questions,
        "n_questions_apart": pairing.n_questions_apart,
        "n_to_judge": len(pairing.to_judge),
    }


def left_out_json(counts: Counter[tuple[str, str, str, str]]) -> list[dict[str, Any]]:
    """Return the pairs that were left out: their models, whose fault it was, why, and how many."""
    return [
        {"left": left, "right": right, "of": culprit, "reason": reason, "n": n}
        for (left, right, culprit, reason), n in sorted(counts.items())
    ]


def entries_json(entries: Sequence[BoardEntry]) -> Iterator[Mapping[str, str | None]]:
    """Yield the stored description of each entry, without its answers."""
    for entry in entries:
        yield {
            "label": entry.label,
            "model": entry.model,
            "run_id": entry.run_id,
            "identity": entry.digest,
        }
