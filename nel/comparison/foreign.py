"""Reads NeMo Evaluator's folders and lm-eval's sample files as one side of a comparison.

They record less than a run of nel does; a comparison names what it could not check.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nel.artifacts.importing import lm_eval, nemo
from nel.artifacts.importing.lm_eval import FilteredTask, arguments_of, filter_of, single_of
from nel.artifacts.importing.reading import read_lines
from nel.comparison.lines import (
    SCORED,
    UNSCORED,
    SampleLine,
    digest,
    gold_digest,
    join_digests,
    length_or_nan,
    number_or_nan,
)
from nel.comparison.sides import (
    Side,
    SideBenchmark,
    Texts,
    readable,
    reward_of,
    text_form,
    text_or_none,
    whole_of,
)
from nel.errors import OutputError
from nel.types import JsonObject


def is_nemo(path: Path) -> bool:
    """Return whether a directory has bundles of NeMo Evaluator, at its top or one level below."""
    return bool(nemo.bundle_paths(path))


def is_lm_eval(path: Path) -> bool:
    """Return whether this is a sample file of lm-eval, or a directory with some."""
    if path.is_dir():
        return bool(lm_eval.sample_files(path))
    # The first line tells: lm-eval's have "doc_id", NeMo Evaluator's "problem_idx".
    value, _ = next(read_lines(path), ({}, ""))
    return "doc_id" in value


def read_nemo(path: Path, label: str) -> Side:
    """Return the benchmarks of a result folder.

    Raises:
        OutputError: A bundle is damaged, a benchmark has two of them, or none has results.
    """
    benchmarks: dict[str, SideBenchmark] = {}
    models: set[str] = set()
    for bundle_path in nemo.bundle_paths(path):
        bundle = nemo.read_bundle(bundle_path)
        if bundle.name in benchmarks:
            raise OutputError(
                f'{path} has two bundles of "{bundle.name}"; leave the one to compare'
            )
        config = bundle.config
        fields = {f"generation.{key}": setting for key, setting in bundle.generation.items()}
        if config.get("scorers"):
            fields["scorer.names"] = config["scorers"]
        if config.get("system_prompt") is not None:
            fields["system_prompt"] = config["system_prompt"]
        n_lines = bundle.content.get("n_results")
        benchmarks[bundle.name] = _nemo_benchmark(bundle.name, bundle.results, fields, n_lines)
        if config.get("model"):
            models.add(str(config["model"]))
    return Side(
        label=label,
        kind="nemo-evaluator",
        run_id=None,
        models=tuple(sorted(models)),
        benchmarks=benchmarks,
    )


def read_results_file(path: Path, label: str) -> Side:
    """Return a results file of NeMo Evaluator without its bundle as a side."""
    name = path.parent.name
    return Side(
        label=label, kind="nemo-evaluator", benchmarks={name: _nemo_benchmark(name, path, {}, None)}
    )


def _nemo_benchmark(
    name: str, results: Path, fields: Mapping[str, object], n_lines: object
) -> SideBenchmark:
    return SideBenchmark(
        name=name,
        kind="nemo-evaluator",
        path=results,
        read_line=_nemo_line,
        read_texts=_nemo_texts,
        fields={"benchmark": name, **fields},
        n_lines=n_lines if isinstance(n_lines, int) else None,
    )


def _nemo_line(value: JsonObject, where: str, offset: int) -> SampleLine:
    reward = _nemo_reward(value, where)
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    expected = gold_digest(value.get("expected_answer"))
    prompt = digest(value["prompt"]) if value.get("prompt") else 0
    details = value.get("scoring_details") or {}
    category = metadata.get("category") or details.get("category")
    state, cause = _state_and_cause(reward, "infra: unknown")
    return SampleLine(
        where=where,
        offset=offset,
        position=whole_of(value, "problem_idx", where),
        repeat=whole_of(value, "repeat", where, 0),
        row=join_digests(digest(metadata), expected) if metadata else None,
        prompt=prompt,
        expected=expected,
        reward=reward,
        state=state,
        cause=cause,
        metrics={
            name: float(reward_value)
            for name, reward_value in (value.get("scorer_rewards") or {}).items()
            if _is_number(reward_value)
        },
        category=text_form(category),
        model=text_or_none(value.get("model")),
        tokens=number_or_nan(value.get("tokens")),
        latency=number_or_nan(value.get("latency_ms")) / 1000,
        characters=length_or_nan(value.get("model_response")),
    )


def _state_and_cause(reward: float | None, cause: str) -> tuple[int, str]:
    return (UNSCORED, cause) if reward is None else (SCORED, "")


def _nemo_reward(value: JsonObject, where: str) -> float | None:
    # NeMo Evaluator writes the reward 0 for an unscored sample, with `unscored` in the details.
    reward, details = reward_of(value, "reward", where), value.get("scoring_details")
    return None if isinstance(details, dict) and details.get("unscored") else reward


def _nemo_texts(value: JsonObject) -> Texts:
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
    """Return the tasks of one sample file or of a directory's; each filter is a benchmark.

    Raises:
        OutputError: A file is damaged, or a task has two files.
    """
    benchmarks: dict[str, SideBenchmark] = {}
    models: set[str] = set()
    for file in [path] if path.is_file() else lm_eval.sample_files(path):
        with readable(file):
            for task in lm_eval.filtered_tasks(file):
                if task.title in benchmarks:
                    raise OutputError(
                        f'{path} has two sample files of "{task.task}"; give the file to compare'
                    )
                benchmarks[task.title] = _lm_eval_benchmark(task)
                if task.summary.get("model_name"):
                    models.add(str(task.summary["model_name"]))
    return Side(label=label, kind="lm-eval", models=tuple(sorted(models)), benchmarks=benchmarks)


def _lm_eval_benchmark(task: FilteredTask) -> SideBenchmark:
    name, metric = task.filter, task.metric
    n_lines = (task.of_task("n-samples") or {}).get("effective")
    recorded = {
        "scorer.version": task.of_task("versions"),
        "num_fewshot": task.of_task("n-shot"),
    }
    return SideBenchmark(
        name=task.title,
        kind="lm-eval",
        path=task.path,
        read_line=lambda value, where, offset: _lm_eval_line(value, where, offset, name, metric),
        read_texts=lambda value: _lm_eval_texts(value, metric),
        fields={
            "benchmark": task.title,
            "scorer.metric": metric,
            "scorer.filter": name,
            **{field: value for field, value in recorded.items() if value is not None},
            **{f"generation.{key}": setting for key, setting in task.settings.items()},
        },
        n_lines=n_lines if isinstance(n_lines, int) else None,
        headline=metric,
        lower_is_better=frozenset(task.lower_is_better),
    )


def _lm_eval_line(
    value: JsonObject, where: str, offset: int, name: str, metric: str
) -> SampleLine | None:
    if filter_of(value) != name:
        return None
    reward = reward_of(value, metric, where)
    argument = arguments_of(value)[0]
    prompt = digest(argument) if argument else 0
    target, doc = gold_digest(value.get("target")), value.get("doc")
    content = value.get("doc_hash") or doc
    category = doc.get("category", doc.get("subject")) if isinstance(doc, dict) else None
    state, cause = _state_and_cause(reward, "scorer: unknown")
    metrics = {
        other_name: float(value[other_name])
        for other_name in value.get("metrics") or ()
        if other_name != metric and _is_number(value.get(other_name))
    }
    return SampleLine(
        where=where,
        offset=offset,
        position=whole_of(value, "doc_id", where),
        repeat=0,
        row=join_digests(digest(content), target) if content else None,
        prompt=prompt,
        expected=target,
        reward=reward,
        state=state,
        cause=cause,
        metrics=metrics,
        category=text_form(category),
        characters=length_or_nan(_answer(value)),
    )


def _lm_eval_texts(value: JsonObject, metric: str) -> Texts:
    filtered = value.get("filtered_resps")
    extracted = filtered[0] if isinstance(filtered, list) and filtered else filtered
    return Texts(
        sample_id=str(value["doc_id"]),
        prompt=arguments_of(value)[0],
        expected=value.get("target"),
        response=_answer(value),
        extracted=text_form(extracted),
        reward=value[metric],
        outcome="unscored" if value[metric] is None else "scored",
    )


def _answer(value: JsonObject) -> str | None:
    return text_form(single_of(value.get("resps")))


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float))
