"""Reads finished runs as entries of a leaderboard: the state of each answer, and digests of the
questions.

The texts are not kept in memory; `nel.apps.leaderboard.pair_rows` reads them again, a few at a
time, when pairs are written. An answer that the run's own scorer could not score still counts as an
answer; only the response decides. Depends on the runs' stores through `nel.engine.store.snapshot`
and `nel.artifacts.results`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nel.artifacts.results import NOT_RUN, Result, read_result
from nel.comparison.fields import OF_ROWS, short
from nel.core.paths import exists
from nel.core.strict_json import dumps
from nel.engine.asking.generate import conversation_of
from nel.engine.asking.response_outcomes import verdict_before_scoring
from nel.engine.asking.stop_rules import DECISIONS
from nel.engine.store.elsewhere import shard_of
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import ConfigError
from nel.reports.questions import asked_text
from nel.types import ModelFailure, Sample, Unscored

Key = tuple[str, int]
"""A sample's id and a repeat."""
_SAME: Final = (
    "benchmark",
    "dataset.sha256",
    "prompt.sha256",
    "system_prompt",
    "scoring.truncated",
)
_SAME_PREFIXES: Final = ("fewshot.", "num_fewshot")
_DRAWN: Final = "sample.size"
_FEWEST: Final = 2
_DIGEST_BYTES: Final = 16
_LAST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardAnswer:
    """The state of one model's answer to one question."""

    idx: int
    """The index of its sample in the run."""
    failure: str | None = None
    """How the model failed: the answer loses, and no judge is asked."""
    missing: str | None = None
    """Why there is no answer, ``cause:kind``; never the model's fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardQuestion:
    """A question, with its gold answer."""

    text: str
    reference: str
    """The gold answer as text; empty where there is none."""

    @property
    def digest(self) -> bytes:
        """Return a digest of the question and its gold answer."""
        both = f"{len(self.text)}:{self.text}{self.reference}"
        return hashlib.sha256(both.encode("utf-8", "surrogatepass")).digest()[:_DIGEST_BYTES]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSource:
    """One benchmark of a run, as the place where answers are read."""

    run_dir: Path
    key: int
    plan: Mapping[str, Any]
    not_run: Unscored = NOT_RUN
    """The outcome of samples that the run never asked."""

    def read(
        self, snapshot: Snapshot, first: int, last: int
    ) -> Iterator[tuple[Result, BoardQuestion | None, str, BoardAnswer]]:
        """Yield each (sample, repeat) as its result, question (None for a bad row), answer text and
        answer state.

        Args:
            snapshot: Of the run.
            first: The index of the first sample.
            last: The index of the last one.
        """
        for stored in results(snapshot, self.key, self.plan["repeats"], first=first, last=last):
            result = read_result(stored, not_run=self.not_run)
            sample = result.sample
            body = (
                snapshot.request(self.key, result.idx, result.repeat)
                if sample and sample.turns
                else None
            )
            text, answer = _answer(result, body, self.plan)
            yield result, None if sample is None else _question(sample), text, answer


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """One run as an entry of the leaderboard."""

    label: str
    run_id: str
    model: str | None
    benchmark: str
    identity: Mapping[str, Any]
    digest: str
    answers: Mapping[Key, BoardAnswer]
    questions: Mapping[str, bytes]
    """Sample id to the digest of its question and gold answer."""
    source: AnswerSource
    """The place where answers and questions are read."""


def read_entries(arguments: Sequence[str], slot: str | None) -> list[BoardEntry]:
    """Return an entry for each ``DIR`` or ``NAME=DIR``, all of one benchmark and with distinct
    names.

    Args:
        arguments: Run directories; the label is the name before ``=``, else the model's name.
        slot: The benchmark of the runs; None: the one that all runs have in common.

    Raises:
        ConfigError: There are fewer than two, two have the same name, or they cannot be compared;
            the fields are named.
        StoreError: There is no usable run.db.
    """
    if len(arguments) < _FEWEST:
        raise ConfigError(
            "a leaderboard needs the runs of at least two models; give their directories"
        )
    named = [_split_name(argument) for argument in arguments]
    chosen = slot or _common_slot([path for _, path in named])
    entries = [_read(label, path, chosen) for label, path in named]
    labels = [entry.label for entry in entries]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ConfigError(
            f'two runs are called "{twice[0]}"; give each a name of its own with NAME=DIR'
        )
    for entry in entries[1:]:
        _check_same(entries[0], entry)
    return entries


def _split_name(argument: str) -> tuple[str | None, Path]:
    name, separator, path = argument.partition("=")
    if separator and not exists(argument):
        if not name.strip():
            raise ConfigError(f'"{argument}" has an empty name before "="; write NAME=DIR')
        return name.strip(), Path(path)
    return None, Path(argument)


def _common_slot(paths: Sequence[Path]) -> str:
    slots = []
    for path in paths:
        with Snapshot(path / FILE_NAME) as snapshot:
            slots.append([slot for _, slot, _, _ in snapshot.benchmarks()])
    common = [slot for slot in slots[0] if all(slot in other for other in slots)]
    if len(common) == 1:
        return common[0]
    if common:
        raise ConfigError(
            f"the runs have several benchmarks in common ({', '.join(common)}); choose one with"
            " --bench"
        )
    listed = "; ".join(
        f"{path.name}: {', '.join(own) or 'none'}" for path, own in zip(paths, slots, strict=True)
    )
    raise ConfigError(f"the runs have no benchmark in common ({listed})")


def _read(label: str | None, path: Path, slot: str) -> BoardEntry:
    with Snapshot(path / FILE_NAME) as snapshot:
        stored = {
            name: (key, bench, plan) for key, name, bench, plan in snapshot.benchmarks() if plan
        }
        if slot not in stored:
            raise ConfigError(
                f'{path} has no benchmark "{slot}"; it has:'
                f" {', '.join(stored) or 'none that has begun'}"
            )
        key, benchmark, plan = stored[slot]
        if "loglikelihood" in plan["identity"]:
            raise ConfigError(
                f"{path}: {slot} ranks choices by log-likelihood; there are no answers to compare"
            )
        if (shard := shard_of(plan["identity"])) is not None:
            raise ConfigError(
                f"{path} is {shard.title}, and a leaderboard compares answers to all questions; put"
                " all shards together with nel eval merge DIR... -o OUT"
            )
        if slot in (snapshot.meta(DECISIONS) or {}):
            raise ConfigError(
                f"{path}: a stop rule ended {slot} early, and a leaderboard compares answers to all"
                " questions; run it again without --stop-when"
            )
        answers: dict[Key, BoardAnswer] = {}
        questions: dict[str, bytes] = {}
        why = snapshot.meta("not_run")
        source = AnswerSource(
            run_dir=path, key=key, plan=plan, not_run=Unscored(**why) if why else NOT_RUN
        )
        for result, question, _, answer in source.read(snapshot, 0, _LAST):
            answers[result.sample_id, result.repeat] = answer
            if question is not None:
                questions[result.sample_id] = question.digest
        return BoardEntry(
            label=label or plan["model"] or path.resolve().name,
            run_id=str(snapshot.meta("run_id") or path.resolve().name),
            model=plan["model"],
            benchmark=benchmark,
            identity=plan["identity"],
            digest=plan["digest"],
            answers=answers,
            questions=questions,
            source=source,
        )


def _answer(result: Result, body: str | None, plan: Mapping[str, Any]) -> tuple[str, BoardAnswer]:
    response, outcome = result.response, result.outcome
    if response is None:
        cause = (
            f"{outcome.cause}:{outcome.kind}"
            if isinstance(outcome, Unscored)
            else "cancelled:not_run"
        )
        return "", BoardAnswer(idx=result.idx, missing=cause)
    verdict = verdict_before_scoring(response, truncated=plan["truncated"])
    if isinstance(verdict, Unscored):
        return "", BoardAnswer(idx=result.idx, missing=f"{verdict.cause}:{verdict.kind}")
    sample = result.sample
    conversation = conversation_of(sample, body, response) if sample is not None else ()
    failure = verdict.kind if isinstance(verdict, ModelFailure) else None
    return _dialogue(conversation) if conversation else response.text, BoardAnswer(
        idx=result.idx, failure=failure
    )


def _dialogue(conversation: Sequence[Mapping[str, Any]]) -> str:
    """Return the conversation from the first answer on, with the role before each turn but the
    first.
    """
    first = next(index for index, turn in enumerate(conversation) if turn["role"] == "assistant")
    turns = conversation[first:]
    return "\n\n".join(
        [str(turns[0]["content"]), *(f"[{turn['role']}]\n{turn['content']}" for turn in turns[1:])]
    )


def _question(sample: Sample) -> BoardQuestion:
    target = sample.target
    return BoardQuestion(
        text=asked_text(sample), reference=target if isinstance(target, str) else dumps(target)
    )


def _check_same(first: BoardEntry, other: BoardEntry) -> None:
    """Refuse two runs with different questions or prompts; recorded answers are checked by their
    questions alone.
    """
    recorded = any(entry.identity.get("mode") == "recorded responses" for entry in (first, other))
    names = sorted(
        name
        for name in {*first.identity, *other.identity}
        if (name in _SAME or name.startswith(_SAME_PREFIXES)) and not (recorded and name in OF_ROWS)
    )
    differ = [name for name in names if first.identity.get(name) != other.identity.get(name)]
    drawn = [first.identity.get(_DRAWN), other.identity.get(_DRAWN)]
    if differ and drawn[0] != drawn[1]:
        sizes = " against ".join("all" if size is None else f"a sample of {size}" for size in drawn)
        raise ConfigError(
            f"{first.label} and {other.label} were not asked the same ({sizes}); compare runs of"
            " one sample"
        )
    if differ:
        listed = "; ".join(
            f"{name}: {short(first.identity.get(name))} and {short(other.identity.get(name))}"
            for name in differ
        )
        raise ConfigError(
            f"{first.label} and {other.label} were not asked the same ({listed}); compare runs of"
            " one benchmark, dataset and prompt"
        )
    for name, question in first.questions.items() if recorded else ():
        theirs = other.questions.get(name)
        if theirs is not None and theirs != question:
            raise ConfigError(
                f"{first.label} and {other.label} have different questions or gold answers as"
                f' sample "{name}"; compare runs of one dataset'
            )
