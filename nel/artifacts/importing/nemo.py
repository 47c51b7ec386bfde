"""Reads result folders of NeMo Evaluator: a bundle ``eval-*.json`` with results.jsonl beside it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from nel.artifacts.importing.contract import ImportedBenchmark, ImportedResult, ImportedRun
from nel.artifacts.importing.kept import kept_failure, kept_response, kept_unscored
from nel.artifacts.importing.reading import (
    messages_of,
    number,
    numbers_of,
    read_json,
    read_lines,
    required_field,
    seconds_of,
    text,
    whole,
)
from nel.artifacts.source_numbers import POSITION
from nel.core.json_values import inner
from nel.core.reward_keys import with_headline
from nel.errors import OutputError
from nel.models.wire.base import read_text
from nel.types import JsonObject, Outcome, Response, Sample, Scored, Unscored, Usage

_GENERATION: Final = (
    "temperature",
    "top_p",
    "max_tokens",
    "seed",
    "stop",
    "frequency_penalty",
    "presence_penalty",
)


def import_nemo(source: Path) -> ImportedRun | None:
    """Results of NeMo Evaluator: bundles in a folder or one level below it.

    Returns None where there is none.

    Raises:
        OutputError: A bundle or a line is damaged, or a bundle has no results beside it.
    """
    if not source.is_dir() or any(source.glob("*/metrics.json")):  # the latter is a run of nel
        return None
    benchmarks = [_benchmark(read_bundle(path)) for path in bundle_paths(source)]
    if not benchmarks:
        return None
    note = (
        "A failure of the endpoint may be a reward of 0 here, and cannot be told from a wrong"
        " answer."
    )
    return ImportedRun(format="nemo", benchmarks=benchmarks, notes=(note,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle and the file of its results."""

    name: str
    content: JsonObject
    scores: JsonObject
    config: JsonObject
    results: Path

    @property
    def generation(self) -> dict[str, object]:
        """Settings of generation."""
        settings = {name: self.config.get(name) for name in _GENERATION}
        return {name: value for name, value in settings.items() if value is not None}


def bundle_paths(source: Path) -> Sequence[Path]:
    """Return the bundles of a folder, at its top or one level below."""
    return sorted([*source.glob("eval-*.json"), *source.glob("*/eval-*.json")])


def read_bundle(path: Path) -> Bundle:
    """Read a bundle.

    Raises:
        OutputError: It is damaged, or has no results beside it.
    """
    content, where = read_json(path), str(path)
    benchmark = required_field(content, "benchmark", dict, where)
    config = required_field(content, "config", dict, where) if content.get("config") else {}
    results = path.with_name("results.jsonl")
    if not results.is_file():
        raise OutputError(
            f"{path.parent} has no results.jsonl; give a folder with it, since scores without"
            " samples can be neither imported nor paired"
        )
    return Bundle(
        name=required_field(benchmark, "name", str, where),
        content=content,
        scores=inner(benchmark, "scores"),
        config=config,
        results=results,
    )


def _benchmark(bundle: Bundle) -> ImportedBenchmark:
    config = bundle.config
    values = (
        (name, score.get("value"))
        for name, score in bundle.scores.items()
        if isinstance(score, dict) and name != "unscored_count"
    )
    scorers = config.get("scorers")
    return ImportedBenchmark(
        name=bundle.name,
        results=partial(_results, bundle.results),
        model=text(config.get("model")),
        started=seconds_of(bundle.content.get("timestamp")),
        scorer=", ".join(map(str, scorers)) if isinstance(scorers, list) and scorers else None,
        generation=bundle.generation,
        scores=numbers_of(values),
        is_complete=bundle.content.get("complete") is not False,
        numbers_are_ids="nel" not in bundle.content,
    )


def _results(path: Path) -> Iterator[ImportedResult]:
    """Yield the results in order; nel writes those without a reward to a file of their own."""
    unscored = path.with_name("unscored.jsonl")
    sources = [_keyed_lines(file) for file in (path, unscored) if file.is_file()]
    # By sample, its rank among the samples of both files; repeats of one have the same.
    ranks: dict[str, int] = {}
    for (position, _), value in heapq.merge(*sources, key=itemgetter(0)):
        nel_fields, metadata = inner(value, "nel"), inner(value, "metadata")
        prompt, answer = value.get("prompt"), text(value.get("model_response"))
        category = text(metadata.get("category"))
        sample_id = text(nel_fields.get("sample_id")) or str(position)
        if nel_fields:
            metadata = {name: item for name, item in metadata.items() if name != "category"}
            # Samples that were never asked have no line, so the rank in the file may be lower than
            # the position in the dataset.
            if ranks.setdefault(sample_id, len(ranks)) != position:
                metadata[POSITION] = position
        sample = Sample(
            id=sample_id,
            input=messages_of(prompt) or text(prompt) or "",
            target=value.get("expected_answer"),
            metadata=dict(metadata),
            subset=category,
            group=text(nel_fields.get("group")),
        )
        yield ImportedResult(
            sample=sample,
            repeat=whole(value.get("repeat")) or 0,
            response=None if answer is None else _response(value, answer, nel_fields),
            outcome=_outcome(value, nel_fields),
        )


def _keyed_lines(path: Path) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    """Yield lines with position and repeat, by which the files are sorted."""
    for value, where in read_lines(path):
        position = required_field(value, "problem_idx", int, where)
        yield (position, whole(value.get("repeat")) or 0), value


def _response(value: JsonObject, answer: str, nel_fields: JsonObject) -> Response:
    if nel_fields:
        return kept_response(answer, nel_fields)
    milliseconds = number(value.get("latency_ms"))
    return replace(
        read_text(answer),
        usage=Usage(completion_tokens=whole(value.get("tokens"))),
        model=text(value.get("model")),
        latency_seconds=None if milliseconds is None else milliseconds / 1000,
    )


def _outcome(value: JsonObject, nel_fields: JsonObject) -> Outcome:
    reward = number(value.get("reward"))
    details = inner(value, "scoring_details")
    if reward is None:
        unscored = Unscored(
            cause="infra", kind="unknown", detail="NeMo Evaluator has no reward for this sample"
        )
        return kept_unscored(nel_fields.get("outcome")) or unscored
    if details.get("unscored"):  # NeMo Evaluator writes the reward 0 then
        reason = text(details.get("unscored_reason")) or "no reason is recorded"
        return Unscored(
            cause="scorer", kind="unknown", detail=f"NeMo Evaluator could not score it: {reason}"
        )
    metrics = numbers_of((value.get("scorer_rewards") or {}).items())
    if len(metrics) > 1 and not nel_fields:  # the file does not say which of them is the reward
        metrics = with_headline({**metrics, "reward": reward}, "reward")
    answer = text(value.get("extracted_answer"))
    if reward == 0:
        failure = kept_failure(
            nel_fields.get("outcome"), metrics=metrics, answer=answer, details=details
        )
        if failure is not None:
            return failure
    return Scored(reward=reward, metrics=metrics, answer=answer, details=details)
