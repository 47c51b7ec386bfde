"""Reads records of Every Eval Ever (schema 0.3): UUID.json, and UUID_samples.jsonl beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from nel.artifacts.importing.contract import ImportedBenchmark, ImportedResult, ImportedRun
from nel.artifacts.importing.kept import kept_failure
from nel.artifacts.importing.reading import (
    begins_with,
    messages_of,
    number,
    read_json,
    read_lines,
    required_field,
    seconds_of,
    text,
    whole,
)
from nel.core.json_values import inner
from nel.core.strict_json import loads
from nel.errors import OutputError
from nel.models.wire.base import read_text
from nel.types import JsonObject, Outcome, Response, Sample, Scored, Usage

_SUFFIX: Final = "_samples.jsonl"
_REPEAT: Final = "nel.repeat"
_OUTCOME: Final = "nel.outcome"


def import_every_eval_ever(source: Path) -> ImportedRun | None:
    """Records of Every Eval Ever with their samples: a UUID.json, or a directory with some.

    Returns None where there is none.

    Raises:
        OutputError: A record or a line is damaged, or a record has no samples beside it.
    """
    paths = sorted(source.rglob("*.json")) if source.is_dir() else [source]
    benchmarks: list[ImportedBenchmark] = []
    for path in paths:
        if begins_with(path, "evaluation_id", "evaluation_results", "schema_version"):
            benchmarks += _benchmarks(path)
    if not benchmarks:
        return None
    notes = [
        "A record has no line for what has no score: how many questions were left out is not known."
    ]
    for benchmark in benchmarks:
        n_unscored = benchmark.scores.get("n_unscored")
        if n_unscored:
            notes.append(
                f"the record of {benchmark.name} says that {n_unscored:.0f} results have no score"
            )
    return ImportedRun(format="every-eval-ever", benchmarks=benchmarks, notes=notes)


def _benchmarks(path: Path) -> Iterator[ImportedBenchmark]:
    """Yield a benchmark for each result of a record that has lines of its own."""
    record = read_json(path)
    samples = path.with_name(f"{path.stem}{_SUFFIX}")
    if not samples.is_file():
        raise OutputError(
            f"{path} has no {samples.name} beside it; scores without samples cannot be imported"
        )
    all_evaluations = required_field(record, "evaluation_results", list, str(path))
    # One file holds the lines of all results; each pair of name and result is a benchmark.
    keys = list(dict.fromkeys(_key(value, where) for value, where in read_lines(samples)))
    names = [name for name, _ in keys]
    for name, result in keys:
        title = name if names.count(name) == 1 or result is None else f"{name},{result}"
        evaluations = [
            evaluation
            for evaluation in all_evaluations
            if isinstance(evaluation, dict) and evaluation.get("evaluation_name") == name
        ]
        yield ImportedBenchmark(
            name=title,
            results=partial(_results, samples, (name, result)),
            model=text((record.get("model_info") or {}).get("id")),
            started=_start_time(record),
            scorer=result,
            dataset=_dataset(evaluations),
            scores=_scores(evaluations),
            lower_is_better=_lower_is_better(evaluations),
        )
    if not keys:
        raise OutputError(f"{samples} holds no sample; import a record with some")


def _start_time(record: JsonObject) -> float | None:
    timestamp = record.get("evaluation_timestamp")
    try:
        return float(timestamp)  # type: ignore[arg-type] # anything else is caught
    except (TypeError, ValueError):
        return seconds_of(timestamp)


def _scores(evaluations: Sequence[JsonObject]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for evaluation in evaluations:
        details = inner(evaluation, "score_details")
        value = number(details.get("score"))
        if value is not None:
            names = [*_names_of_metric(evaluation), "score"]
            scores[names[0]] = value
        n_unscored = str(inner(details, "details").get("n_unscored"))
        if n_unscored.isdigit():
            scores["n_unscored"] = float(n_unscored)
    return scores


def _names_of_metric(evaluation: JsonObject) -> list[str]:
    config = inner(evaluation, "metric_config")
    names = (text(evaluation.get("evaluation_result_id")), text(config.get("metric_name")))
    return [name for name in names if name]


def _lower_is_better(evaluations: Sequence[JsonObject]) -> list[str]:
    """Return the metrics of an evaluation of which less is better, the reward's name among them."""
    names: dict[str, None] = {}
    for evaluation in evaluations:
        if inner(evaluation, "metric_config").get("lower_is_better") is True:
            names |= dict.fromkeys(_names_of_metric(evaluation))
    return list(names)


def _dataset(evaluations: Sequence[JsonObject]) -> str | None:
    source = inner(evaluations[0], "source_data") if evaluations else {}
    return text(source.get("hf_repo") or source.get("dataset_name"))


def _key(value: JsonObject, where: str) -> tuple[str, str | None]:
    name = required_field(value, "evaluation_name", str, where)
    return name, text(value.get("evaluation_result_id"))


def _results(path: Path, key: tuple[str, str | None]) -> Iterator[ImportedResult]:
    """Yield the results of one score; of several lines of a sample each is a repeat."""
    n_lines: dict[str, int] = {}
    for value, where in read_lines(path):
        if _key(value, where) != key:
            continue
        sample_id = str(required_field(value, "sample_id", str, where))
        fields = inner(value, "metadata")
        row = {name: field for name, field in fields.items() if name not in {_REPEAT, _OUTCOME}}
        # nel's own records say which repeat a line is; of others the lines of a sample are counted.
        repeat = n_lines.get(sample_id, 0)
        n_lines[sample_id] = repeat + 1
        repeat_text = str(fields.get(_REPEAT) or "")
        if repeat_text.isascii() and repeat_text.isdigit():
            repeat = int(repeat_text)
        yield ImportedResult(
            sample=_sample(value, sample_id, row, where),
            repeat=repeat,
            response=_response(value),
            outcome=_outcome(value, key[1], fields.get(_OUTCOME), where),
        )


def _sample(value: JsonObject, sample_id: str, row: JsonObject, where: str) -> Sample:
    question = required_field(value, "input", dict, where)
    reference = [text(element) or "" for element in question.get("reference") or ()]
    choices = tuple(text(element) or "" for element in question.get("choices") or ())
    messages = value.get("messages")
    conversation = messages_of(messages[:-1]) if isinstance(messages, list) else None
    return Sample(
        id=sample_id,
        input=conversation or text(question.get("formatted")) or text(question.get("raw")) or "",
        target=reference[0] if len(reference) == 1 else reference or None,
        choices=choices or None,
        metadata={name: element for name, element in row.items() if name != "category"},
        subset=text(row.get("category")),
    )


def _response(value: JsonObject) -> Response | None:
    # A sample of several turns has its answer as its last message and no output.
    output, messages = inner(value, "output"), value.get("messages")
    message: JsonObject = {}
    if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
        message = messages[-1]
    answers = output.get("raw") or [message.get("content")]
    traces = output.get("reasoning_trace") or [message.get("reasoning_trace")]
    if answers[0] is None:
        return None
    tokens, times = value.get("token_usage") or {}, value.get("performance") or {}
    return replace(
        read_text(text(answers[0]) or "", reasoning=text(traces[0])),
        usage=Usage(
            prompt_tokens=whole(tokens.get("input_tokens")),
            completion_tokens=whole(tokens.get("output_tokens")),
            reasoning_tokens=whole(tokens.get("reasoning_tokens")),
            cached_tokens=whole(tokens.get("input_tokens_cache_read")),
        ),
        latency_seconds=_seconds(times.get("latency_ms")),
        first_token_seconds=_seconds(times.get("time_to_first_token_ms")),
    )


def _seconds(value: object) -> float | None:
    milliseconds = number(value)
    return None if milliseconds is None else milliseconds / 1000


def _outcome(value: JsonObject, metric: str | None, kept_outcome: object, where: str) -> Outcome:
    evaluation = required_field(value, "evaluation", dict, where)
    score = number(evaluation.get("score"))
    if score is None:
        raise OutputError(
            f'{where}: "score" is missing or no number, which the schema requires; import a valid'
            " record"
        )
    answer = None
    for attribution in value.get("answer_attribution") or ():
        if isinstance(attribution, dict):
            answer = text(attribution.get("extracted_value"))
    if score == 0:
        failure = kept_failure(_object(kept_outcome), metrics={}, answer=answer, details={})
        if failure is not None:
            return failure
    error = text(value.get("error"))
    details = {"error": error} if error else {}
    metrics = {} if metric is None else {metric: score}
    return Scored(reward=score, metrics=metrics, answer=answer, details=details)


def _object(value: object) -> object:
    try:
        return loads(value) if isinstance(value, str) else None
    except ValueError:
        return None
