"""Reads results of other tools as one side of a comparison: NeMo Evaluator's folders and lm-eval's
sample files.

They say less than a run of nel; what they do not record cannot be checked, and the comparison names
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nel.comparison.lines import SCORED, UNSCORED, Line, digest, joined, number_or_nan
from nel.comparison.sides import (
    Side,
    SideBenchmark,
    Texts,
    json_object,
    json_objects,
    line_blocks,
    readable,
    reward_of,
    text_or_none,
    whole_of,
)
from nel.errors import OutputError, UsageError

_SAMPLES: Final = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl"
)
_NEMO_GENERATION: Final = (
    "temperature", "top_p", "max_tokens", "seed", "stop", "frequency_penalty", "presence_penalty"
)  # fmt: skip
_NO_MEASURE: Final = ("bypass",)
"""Metrics of lm-eval that are placeholders."""


def is_nemo(path: Path) -> bool:
    """Return whether a directory is a result folder of NeMo Evaluator: bundles, flat or one folder
    a benchmark.
    """
    return any(path.glob("eval-*.json")) or any(path.glob("*/eval-*.json"))


def is_lm_eval(path: Path) -> bool:
    """Return whether this is a sample file of lm-eval, or a directory with some."""
    if path.is_dir():
        return any(path.glob("samples_*.jsonl")) or any(path.glob("*/samples_*.jsonl"))
    return "doc_id" in next(_objects(path), {})


def read_nemo(path: Path, label: str) -> Side:
    """Return the benchmarks of a result folder.

    Raises:
        OutputError: A bundle is damaged, a benchmark has two of them, or none has results.
    """
    benchmarks: dict[str, SideBenchmark] = {}
    models: set[str] = set()
    for bundle_path in sorted([*path.glob("eval-*.json"), *path.glob("*/eval-*.json")]):
        bundle = json_object(bundle_path.read_bytes(), str(bundle_path))
        with readable(bundle_path):
            config = bundle.get("config") or {}
            name = (bundle.get("benchmark") or {}).get("name") or config.get("benchmark")
            if not isinstance(config, dict):
                raise TypeError("config is no object")
        if not isinstance(name, str):
            raise OutputError(f"{bundle_path} names no benchmark; it is no bundle of results")
        if name in benchmarks:
            raise OutputError(f'{path} has two bundles of "{name}"; leave the one to compare')
        results = bundle_path.parent / "results.jsonl"
        if not results.is_file():
            raise OutputError(
                f"{bundle_path.parent} has no results.jsonl; scores without samples cannot be"
                " paired"
            )
        benchmarks[name] = _nemo_benchmark(name, results, bundle, config)
        models |= {str(config["model"])} if config.get("model") else set()
    return Side(
        label=label,
        kind="nemo-evaluator",
        run_id=None,
        models=tuple(sorted(models)),
        benchmarks=benchmarks,
    )


def read_results_file(path: Path, label: str) -> Side:
    """Return one file of results in NeMo Evaluator's form that has no bundle beside it."""
    name = path.parent.name
    return Side(
        label=label, kind="nemo-evaluator", benchmarks={name: _nemo_benchmark(name, path, {}, {})}
    )


def _nemo_benchmark(
    name: str, results: Path, bundle: Mapping[str, Any], config: Mapping[str, Any]
) -> SideBenchmark:
    generation = {
        f"generation.{key}": config[key] for key in _NEMO_GENERATION if config.get(key) is not None
    }
    scorers = {"scorer.names": config["scorers"]} if config.get("scorers") else {}
    system = (
        {"system_prompt": config["system_prompt"]}
        if config.get("system_prompt") is not None
        else {}
    )
    n_results = bundle.get("n_results")
    return SideBenchmark(
        name=name,
        kind="nemo-evaluator",
        path=results,
        read_line=_nemo_line,
        read_texts=_nemo_texts,
        fields={"benchmark": name, **generation, **scorers, **system},
        n_lines=n_results if isinstance(n_results, int) else None,
    )


def _nemo_line(value: Mapping[str, Any], where: str, offset: int) -> Line:
    reward = _nemo_reward(value, where)
    metadata = value.get("metadata") if isinstance(value.get("metadata"), dict) else {}
    expected = digest(value.get("expected_answer"))
    prompt = digest(value["prompt"]) if value.get("prompt") else 0
    details = value.get("scoring_details") or {}
    category = (metadata or {}).get("category") or details.get("category")
    return Line(
        where=where,
        offset=offset,
        position=whole_of(value, "problem_idx", where),
        repeat=whole_of(value, "repeat", where, 0),
        row=joined(digest(metadata), expected) if metadata else None,
        prompt=prompt,
        expected=expected,
        reward=reward,
        state=UNSCORED if reward is None else SCORED,
        cause="infra: unknown" if reward is None else "",
        metrics={
            name: float(reward_value)
            for name, reward_value in (value.get("scorer_rewards") or {}).items()
            if _is_number(reward_value)
        },
        category=None if category is None else str(category),
        model=text_or_none(value.get("model")),
        tokens=number_or_nan(value.get("tokens")),
        latency=number_or_nan(value.get("latency_ms")) / 1000,
        characters=float(len(value.get("model_response") or "")),
    )


def _nemo_reward(value: Mapping[str, Any], where: str) -> float | None:
    """Return the reward; None where the details say unscored, beside which NeMo Evaluator writes
    0.
    """
    reward, details = reward_of(value, "reward", where), value.get("scoring_details")
    return None if isinstance(details, dict) and details.get("unscored") else reward


def _nemo_texts(value: Mapping[str, Any]) -> Texts:
    reward = _nemo_reward(value, "")
    return Texts(
        sample_id=str(value["problem_idx"]),
        prompt=value.get("prompt"),
        expected=value.get("expected_answer"),
        response=text_or_none(value.get("model_response")),
        extracted=text_or_none(value.get("extracted_answer")),
        reward=reward,
        outcome="unscored" if reward is None else "scored",
    )


def read_lm_eval(path: Path, label: str) -> Side:
    """Return the tasks of a sample file, or of a directory with some; each filter is a benchmark of
    its own.

    Raises:
        OutputError: A file is damaged, or a task has two files.
    """
    files = (
        [path]
        if path.is_file()
        else sorted([*path.glob("samples_*.jsonl"), *path.glob("*/samples_*.jsonl")])
    )
    benchmarks: dict[str, SideBenchmark] = {}
    models: set[str] = set()
    for file in files:
        matched = _SAMPLES.fullmatch(file.name)
        task = matched["task"] if matched else file.stem.removeprefix("samples_")
        summary = _lm_eval_summary(file, matched["time"]) if matched else {}
        models |= {str(summary["model_name"])} if summary.get("model_name") else set()
        filters = _filters(file)
        for name in filters:
            title = task if len(filters) == 1 else f"{task},{name}"
            if title in benchmarks:
                raise OutputError(
                    f'{path} has two sample files of "{task}"; give the file to compare'
                )
            with readable(file):
                benchmarks[title] = _lm_eval_benchmark(title, task, file, name, summary)
    return Side(label=label, kind="lm-eval", models=tuple(sorted(models)), benchmarks=benchmarks)


def _lm_eval_benchmark(
    title: str, task: str, file: Path, name: str, summary: Mapping[str, Any]
) -> SideBenchmark:
    lines = (value for value in _objects(file) if _filter_of(value) == name)
    first = next(lines)
    if not any(
        _is_number(first.get(name)) for name in first.get("metrics") or ()
    ):  # its first question is unscored
        first = next(
            (
                value
                for value in lines
                if any(_is_number(value.get(name)) for name in value["metrics"])
            ),
            first,
        )
    metric = _metric_of(first, str(file))
    settings = (_first_arguments(first) or {}).get("arg_1")
    generation = (
        {f"generation.{key}": setting for key, setting in settings.items()}
        if isinstance(settings, dict)
        else {}
    )
    counted = ((summary.get("n-samples") or {}).get(task) or {}).get("effective")
    version = (summary.get("versions") or {}).get(task)
    fewshot = (summary.get("n-shot") or {}).get(task)
    return SideBenchmark(
        name=title,
        kind="lm-eval",
        path=file,
        read_line=lambda value, where, offset: _lm_eval_line(value, where, offset, name, metric),
        read_texts=lambda value: _lm_eval_texts(value, metric),
        fields={
            "benchmark": title,
            "scorer.metric": metric,
            "scorer.filter": name,
            **({"scorer.version": version} if version is not None else {}),
            **({"num_fewshot": fewshot} if fewshot is not None else {}),
            **generation,
        },
        n_lines=counted if isinstance(counted, int) else None,
        headline=metric,
    )


def _lm_eval_line(
    value: Mapping[str, Any], where: str, offset: int, name: str, metric: str
) -> Line | None:
    if _filter_of(value) != name:
        return None
    reward = reward_of(value, metric, where)
    arguments = _first_arguments(value) or {}
    prompt = digest(arguments["arg_0"]) if arguments.get("arg_0") else 0
    target, doc = digest(value.get("target")), value.get("doc")
    content = value.get("doc_hash") or doc
    category = doc.get("category", doc.get("subject")) if isinstance(doc, dict) else None
    others = (name for name in value.get("metrics") or () if name != metric)
    return Line(
        where=where,
        offset=offset,
        position=whole_of(value, "doc_id", where),
        repeat=0,
        row=joined(digest(content), target) if content else None,
        prompt=prompt,
        expected=target,
        reward=reward,
        state=UNSCORED if reward is None else SCORED,
        cause="scorer: unknown" if reward is None else "",
        metrics={name: float(value[name]) for name in others if _is_number(value.get(name))},
        category=None if category is None else str(category),
        characters=float(len(_answer(value) or "")),
    )


def _lm_eval_texts(value: Mapping[str, Any], metric: str) -> Texts:
    filtered = value.get("filtered_resps")
    extracted = filtered[0] if isinstance(filtered, list) and filtered else filtered
    return Texts(
        sample_id=str(value["doc_id"]),
        prompt=(_first_arguments(value) or {}).get("arg_0"),
        expected=value.get("target"),
        response=_answer(value),
        extracted=None if extracted is None else str(extracted),
        reward=value[metric],
        outcome="unscored" if value[metric] is None else "scored",
    )


def _answer(value: Mapping[str, Any]) -> str | None:
    responses = value.get("resps")
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return None if responses is None else str(responses)


def _first_arguments(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    arguments = value.get("arguments")
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    if (
        isinstance(arguments, list) and arguments and isinstance(arguments[0], list)
    ):  # older files: a list of argument lists
        first = {f"arg_{position}": argument for position, argument in enumerate(arguments[0])}
    return first if isinstance(first, dict) else None


def _metric_of(value: Mapping[str, Any], where: str) -> str:
    named = [
        str(metric) for metric in value.get("metrics") or () if _is_number(value.get(str(metric)))
    ]
    usable = [metric for metric in named if metric not in _NO_MEASURE]
    if not usable:
        raise UsageError(
            f"{where}: its samples have no metric that is a number; nothing can be compared"
        )
    return usable[0]


def _filters(path: Path) -> list[str]:
    names = list(dict.fromkeys(_filter_of(value) for value in _objects(path)))
    if not names:
        raise OutputError(f"{path} holds no sample; nothing can be compared")
    return names


def _filter_of(value: Mapping[str, Any]) -> str:
    return str(value.get("filter", "none"))


def _lm_eval_summary(file: Path, time: str) -> Mapping[str, Any]:
    path = file.with_name(f"results_{time}.json")
    return json_object(path.read_bytes(), str(path)) if path.is_file() else {}


def _objects(path: Path) -> Iterator[Mapping[str, Any]]:
    return (value for block in line_blocks(path) for value, _, _ in json_objects(*block, path))


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float))
