"""Reads sample files of lm-eval, with the results file beside them where there is one."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from nel.artifacts.importing.contract import ImportedBenchmark, ImportedResult, ImportedRun
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
from nel.core.json_values import inner
from nel.core.reward_keys import with_headline
from nel.core.strict_json import loads
from nel.errors import OutputError
from nel.models.wire.base import read_text
from nel.types import JsonObject, Outcome, Sample, Scored, Unscored

_SAMPLES: Final = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl"
)
"""``samples_gsm8k_2024-05-01T12-30-00.123456.jsonl``."""
_NO_MEASURE: Final = "bypass"
"""A placeholder for a metric in lm-eval."""
_ID_OF_EXPORTS: Final = "sample_id"
"""The column in which nel's own export to this format keeps a sample's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredTask:
    """The samples of one filter in a file."""

    title: str
    """The task, with the filter where the file has several."""
    task: str
    filter: str
    metric: str
    """The first metric that is a mean over samples; without one, the first that is a number."""
    path: Path
    first: JsonObject
    summary: JsonObject
    """The results file beside the samples, empty without one."""

    def of_task(self, name: str) -> Any:  # JSON of any shape
        """Return the task's entry in a section of the summary, None without one."""
        return (self.summary.get(name) or {}).get(self.task)

    @property
    def lower_is_better(self) -> list[str]:
        """The metrics that lm-eval declares as better when lower."""
        directions = self.of_task("higher_is_better") or {}
        return [name for name, is_higher in directions.items() if is_higher is False]

    @property
    def settings(self) -> JsonObject:
        """Settings of generation."""
        settings = arguments_of(self.first)[1]
        return settings if isinstance(settings, dict) else {}


def sample_files(source: Path) -> Sequence[Path]:
    """Return the sample files of a directory, at its top or one level below."""
    return sorted([*source.glob("samples_*.jsonl"), *source.glob("*/samples_*.jsonl")])


def import_lm_eval(source: Path) -> ImportedRun | None:
    """Samples of lm-eval: a samples_*.jsonl file or a directory with some.

    Returns None where there is none.

    Raises:
        OutputError: A line is damaged, or no metric of a file is a number.
    """
    paths = sample_files(source) if source.is_dir() else [source]
    paths = [path for path in paths if path.name.startswith("samples_") and path.suffix == ".jsonl"]
    if not paths:
        return None
    benchmarks: list[ImportedBenchmark] = []
    for path in paths:
        benchmarks += map(_benchmark, filtered_tasks(path))
    note = "Which questions failed and were left out, tokens and times are not recorded by lm-eval."
    return ImportedRun(format="lm-eval", benchmarks=benchmarks, notes=(note,))


def filtered_tasks(path: Path) -> Iterator[FilteredTask]:
    """Yield the samples of each filter of a file.

    Raises:
        OutputError: A line is damaged, or no metric is a number.
    """
    task = path.stem.removeprefix("samples_")
    summary: JsonObject = {}
    match = _SAMPLES.fullmatch(path.name)
    if match:
        task = match["task"]
        results_path = path.with_name(f"results_{match['time']}.json")
        if results_path.is_file():
            summary = read_json(results_path)
    other_rules = _other_rules(summary, task)
    values: dict[str, dict[str, Any]] = {}
    metrics: dict[str, str] = {}
    for value, _ in read_lines(path):
        name = filter_of(value)
        values.setdefault(name, value)
        if name in metrics:
            continue
        # Of the first line that has a number: a line without an answer may have none.
        metric = _metric_of(value, other_rules)
        if metric is not None:
            metrics[name] = metric
    for name, value in values.items():
        if name not in metrics:
            raise OutputError(
                f"{path} has no metric that is a number for the filter {name}; give another file"
            )
        title = task if len(values) == 1 else f"{task},{name}"
        yield FilteredTask(
            title=title,
            task=task,
            filter=name,
            metric=metrics[name],
            path=path,
            first=value,
            summary=summary,
        )
    if not values:
        raise OutputError(f"{path} holds no sample; give a file with some")


def _benchmark(task: FilteredTask) -> ImportedBenchmark:
    summary = task.summary
    # Keys are "exact_match,strict-match" and "exact_match_stderr,strict-match".
    scores = (
        (key.rpartition(",")[0], score)
        for key, score in (task.of_task("results") or {}).items()
        if key.endswith(f",{task.filter}") and "_stderr," not in key
    )
    return ImportedBenchmark(
        name=task.title,
        results=partial(_results, task.path, task.filter, task.metric, "nel" in summary),
        model=text(summary.get("model_name")),
        started=seconds_of(summary.get("date")),
        scorer=task.metric,
        scorer_version=text(task.of_task("versions")),
        dataset=text((task.of_task("configs") or {}).get("dataset_path")),
        n_fewshot=whole(task.of_task("n-shot")),
        generation=task.settings,
        scores=numbers_of(scores),
        lower_is_better=task.lower_is_better,
    )


def _results(path: Path, name: str, metric: str, is_own: bool) -> Iterator[ImportedResult]:
    """Yield the results of one filter.

    Args:
        is_own: Whether nel exported the file: id and category are then columns of the row.
    """
    for value, where in read_lines(path):
        if filter_of(value) != name:
            continue
        sample_id = str(required_field(value, "doc_id", int, where))
        doc = value.get("doc")
        row = dict(doc) if isinstance(doc, dict) else {"doc": doc}
        if is_own:
            sample_id = str(row.pop(_ID_OF_EXPORTS, sample_id))
            category = row.pop("category", None)
        else:
            category = row.get("category", row.get("subject"))
        request = arguments_of(value)[0]
        sample = Sample(
            id=sample_id,
            input=_conversation(request) or text(request) or "",
            target=value.get("target"),
            metadata=row,
            subset=text(category),
        )
        answer = single_of(value.get("resps"))
        response = None if answer is None else read_text(text(answer) or "")
        yield ImportedResult(
            sample=sample,
            repeat=0,
            response=response,
            outcome=_outcome(value, metric, is_own=is_own),
        )


def _outcome(value: JsonObject, metric: str, *, is_own: bool) -> Outcome:
    reward = number(value.get(metric))
    if reward is None:
        return Unscored(
            cause="scorer", kind="unknown", detail=f"lm-eval has no {metric} for this sample"
        )
    metrics = {}
    if not is_own:
        names = map(str, value.get("metrics") or ())
        other_metrics = numbers_of((name, value.get(name)) for name in names)
        metrics = with_headline({metric: reward, **other_metrics}, metric)
    answer = text(single_of(value.get("filtered_resps")))
    return Scored(reward=reward, metrics=metrics, answer=answer)


def filter_of(value: JsonObject) -> str:
    """Return the filter that a line is of."""
    return str(value.get("filter", "none"))


def _other_rules(summary: JsonObject, task: str) -> set[str]:
    """Return the metrics that are not means over samples, such as a perplexity."""
    metrics = ((summary.get("configs") or {}).get(task) or {}).get("metric_list") or ()
    return {
        str(metric.get("metric"))
        for metric in metrics
        if isinstance(metric, dict) and metric.get("aggregation") not in (None, "mean")
    }


def _metric_of(value: JsonObject, other_rules: Container[str]) -> str | None:
    metrics = [
        metric
        for metric in map(str, value.get("metrics") or ())
        if metric != _NO_MEASURE and number(value.get(metric)) is not None
    ]
    means = [metric for metric in metrics if metric not in other_rules]
    return next(iter([*means, *metrics]), None)


def arguments_of(value: JsonObject) -> tuple[Any, Any]:
    """Return the context and the settings of the first request; None where the file has none."""
    arguments = value.get("arguments")
    if isinstance(arguments, dict):
        request = inner(arguments, "gen_args_0")
        return request.get("arg_0"), request.get("arg_1")
    # Some files have a list of argument lists.
    if isinstance(arguments, list) and arguments and isinstance(arguments[0], list):
        context, settings, *_ = (*arguments[0], None, None)
        return context, settings
    return None, None


def _conversation(prompt: object) -> Any:  # messages, or None
    # With a chat template that is applied by the server, the context is a JSON list of messages.
    if not isinstance(prompt, str) or not prompt.startswith("["):
        return None
    try:
        return messages_of(loads(prompt))
    except ValueError:
        return None


def single_of(value: Any) -> Any:  # JSON of any shape
    """Return the element of nested lists that have one element each."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value
