"""Reads finished runs as entries of a leaderboard: states of answers, and digests of questions.

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
from typing import Final

from nel.artifacts.results import NOT_RUN, Result, read_result
from nel.comparison.fields import OF_ROWS
from nel.comparison.reading import named_path
from nel.core.texts import setting_text
from nel.engine.asking.generate import conversation_of
from nel.engine.asking.response_outcomes import verdict_before_scoring
from nel.engine.asking.stop_rules import DECISIONS
from nel.engine.store.elsewhere import shard_of
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import ConfigError
from nel.reports.questions import asked_text
from nel.scoring.delegation import reference_of
from nel.types import JsonObject, ModelFailure, Sample, Unscored

Key = tuple[str, int]
"""A sample's id and a repeat."""
_COMPARED: Final = (
    "benchmark",
    "dataset.sha256",
    "prompt.sha256",
    "system_prompt",
    "scoring.truncated",
)
"""Fields of identities that have to be the same in all runs."""
_COMPARED_PREFIXES: Final = ("fewshot.", "num_fewshot")
_SAMPLE_SIZE: Final = "sample.size"
_FEWEST: Final = 2
_DIGEST_BYTES: Final = 16
_IDX_MAX: Final = 2**63 - 1
"""The largest integer of SQLite."""


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
        content = f"{len(self.text)}:{self.text}{self.reference}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[:_DIGEST_BYTES]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSource:
    """One benchmark of a run, as the place where answers are read."""

    run_dir: Path
    key: int
    plan: JsonObject
    not_run: Unscored = NOT_RUN
    """The outcome of samples that the run never asked."""

    def read(
        self, snapshot: Snapshot, first: int, last: int
    ) -> Iterator[tuple[Result, BoardQuestion | None, str, BoardAnswer]]:
        """Yield result, question (None for a bad row), answer text and state of each repeat.

        Args:
            snapshot: Of the run.
            first: The index of the first sample.
            last: The index of the last one.
        """
        for row in results(snapshot, self.key, self.plan["repeats"], first=first, last=last):
            result = read_result(row, not_run=self.not_run)
            sample, body = result.sample, None
            if sample and sample.turns:  # the request holds the earlier turns of the conversation
                body = snapshot.request(self.key, result.idx, result.repeat)
            text, answer = _answer(result, body, self.plan)
            yield result, None if sample is None else _question(sample), text, answer


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """One run as an entry of the leaderboard."""

    label: str
    run_id: str
    model: str | None
    benchmark: str
    identity: JsonObject
    digest: str
    answers: Mapping[Key, BoardAnswer]
    questions: Mapping[str, bytes]
    """Sample id to the digest of its question and gold answer."""
    source: AnswerSource
    """The place where answers and questions are read."""


def read_entries(arguments: Sequence[str], slot: str | None) -> list[BoardEntry]:
    """Return an entry for each ``DIR`` or ``NAME=DIR``, all of one benchmark.

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
    places = [named_path(argument) for argument in arguments]
    if slot is None:
        slot = _common_slot([path for _, path in places])
    entries = [_read(label, path, slot) for label, path in places]
    labels = [entry.label for entry in entries]
    duplicates = sorted({label for label in labels if labels.count(label) > 1})
    if duplicates:
        raise ConfigError(
            f'two runs are called "{duplicates[0]}"; give each a name of its own with NAME=DIR'
        )
    for entry in entries[1:]:
        _check_comparable(entries[0], entry)
    return entries


def _common_slot(paths: Sequence[Path]) -> str:
    slots = []
    for path in paths:
        with Snapshot(path / FILE_NAME) as snapshot:
            slots.append([slot for _, slot, _, _ in snapshot.benchmarks()])
    slots_of_all = [slot for slot in slots[0] if all(slot in of_run for of_run in slots)]
    if len(slots_of_all) == 1:
        return slots_of_all[0]
    if slots_of_all:
        raise ConfigError(
            f"the runs have several benchmarks in common ({', '.join(slots_of_all)}); choose one with"
            " --bench"
        )
    names = "; ".join(
        f"{path.name}: {', '.join(of_run) or 'none'}"
        for path, of_run in zip(paths, slots, strict=True)
    )
    raise ConfigError(f"the runs have no benchmark in common ({names})")


def _read(label: str | None, path: Path, slot: str) -> BoardEntry:
    with Snapshot(path / FILE_NAME) as snapshot:
        by_slot = {
            name: (key, bench, plan) for key, name, bench, plan in snapshot.benchmarks() if plan
        }
        if slot not in by_slot:
            raise ConfigError(
                f'{path} has no benchmark "{slot}"; it has:'
                f" {', '.join(by_slot) or 'none that has begun'}"
            )
        key, benchmark, plan = by_slot[slot]
        if "loglikelihood" in plan["identity"]:
            raise ConfigError(
                f"{path}: {slot} ranks choices by log-likelihood; there are no answers to compare"
            )
        shard = shard_of(plan["identity"])
        if shard is not None:
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
        for result, question, _, answer in source.read(snapshot, 0, _IDX_MAX):
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


def _answer(result: Result, body: str | None, plan: JsonObject) -> tuple[str, BoardAnswer]:
    response, outcome = result.response, result.outcome
    if response is None:
        cause = "cancelled:not_run"
        if isinstance(outcome, Unscored):
            cause = f"{outcome.cause}:{outcome.kind}"
        return "", BoardAnswer(idx=result.idx, missing=cause)
    verdict = verdict_before_scoring(response, truncated=plan["truncated"])
    if isinstance(verdict, Unscored):
        return "", BoardAnswer(idx=result.idx, missing=f"{verdict.cause}:{verdict.kind}")
    sample = result.sample
    conversation = conversation_of(sample, body, response) if sample is not None else ()
    text = _dialogue(conversation) if conversation else response.text
    failure = verdict.kind if isinstance(verdict, ModelFailure) else None
    return text, BoardAnswer(idx=result.idx, failure=failure)


def _dialogue(conversation: Sequence[JsonObject]) -> str:
    """Return a conversation from the first answer on, with roles before all turns but that."""
    start = next(index for index, turn in enumerate(conversation) if turn["role"] == "assistant")
    answer, *turns = conversation[start:]
    texts = [f"[{turn['role']}]\n{turn['content']}" for turn in turns]
    return "\n\n".join([str(answer["content"]), *texts])


def _question(sample: Sample) -> BoardQuestion:
    reference = reference_of(sample.target) or ""
    return BoardQuestion(text=asked_text(sample), reference=reference)


def _check_comparable(entry: BoardEntry, rival: BoardEntry) -> None:
    """Refuse two runs with different questions or prompts.

    Raises:
        ConfigError: They differ; of recorded answers the questions are compared, not their files.
    """
    labels = f"{entry.label} and {rival.label}"
    identity, rival_identity = entry.identity, rival.identity
    is_recorded = "recorded responses" in (identity.get("mode"), rival_identity.get("mode"))
    names = []
    for name in sorted({*identity, *rival_identity}):
        is_compared = name in _COMPARED or name.startswith(_COMPARED_PREFIXES)
        # The answers are part of the rows of recorded ones, so their digests differ.
        if is_recorded and name in OF_ROWS:
            is_compared = False
        if is_compared and identity.get(name) != rival_identity.get(name):
            names.append(name)
    sizes = [identity.get(_SAMPLE_SIZE), rival_identity.get(_SAMPLE_SIZE)]
    if names and sizes[0] != sizes[1]:
        samples = " against ".join("all" if n is None else f"a sample of {n}" for n in sizes)
        raise ConfigError(
            f"{labels} were not asked the same ({samples}); compare runs of one sample"
        )
    if names:
        differences = "; ".join(
            f"{name}: {setting_text(identity.get(name))} and"
            f" {setting_text(rival_identity.get(name))}"
            for name in names
        )
        raise ConfigError(
            f"{labels} were not asked the same ({differences}); compare runs of one benchmark,"
            " dataset and prompt"
        )
    if not is_recorded:
        return
    for name, question in entry.questions.items():
        if rival.questions.get(name, question) != question:
            raise ConfigError(
                f"{labels} have different questions or gold answers as sample"
                f' "{name}"; compare runs of one dataset'
            )
