"""Reads run directories of HELM: scenario_state.json, per_instance_stats.json and run_spec.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from nel.artifacts.importing.contract import ImportedBenchmark, ImportedResult, ImportedRun
from nel.artifacts.importing.reading import (
    messages_of,
    number,
    numbers_of,
    read_file,
    read_object,
    required_field,
    text,
    whole,
)
from nel.core.json_values import inner, present
from nel.core.reward_keys import with_headline
from nel.errors import OutputError
from nel.models.wire.base import read_text
from nel.types import JsonObject, Outcome, Response, Sample, Scored, Unscored, Usage

STATE: Final = "scenario_state.json"
STATS: Final = "per_instance_stats.json"
SPEC: Final = "run_spec.json"
TEST: Final = "test"
MEASURES: Final = (
    "final_number_exact_match", "math_equiv_chain_of_thought", "math_equiv",
    "chain_of_thought_correctness", "ifeval_strict_accuracy", "wildbench_score_rescaled",
    "omni_math_accuracy", "code_eval_acc", "pass", "exact_match_indicator", "f1_set_match",
    "f1_score", "rouge_2", "rouge_l", "bleu_4", "quasi_exact_match", "exact_match",
)  # fmt: skip
"""Metrics by which a run is measured, the most particular first: HELM names the one that counts in
its schema of groups alone, which is not part of a run."""
_OF_GROUPS: Final[Mapping[str, str]] = {
    "wmt_14": "bleu_4",
    **dict.fromkeys(
        ("mmlu", "openbookqa", "hellaswag", "truthful_qa", "blimp", "thai_exam"), "exact_match"
    ),
}
"""The metric that counts in the groups of HELM's schemas (classic, Lite, MMLU) where it is not the
first of `MEASURES` that the group's runs have."""
_GENERATION: Final = ("temperature", "max_tokens", "top_p", "presence_penalty", "frequency_penalty")
_Key = tuple[str, int]
_Stats = Mapping[_Key, Mapping[str, float]]


def import_helm(source: Path) -> ImportedRun | None:
    """Runs of HELM: the directory of one, or one with some below.

    Returns None where there is none.

    Raises:
        OutputError: A file is damaged or missing, or no run has a metric that nel can take for the
            score.
    """
    candidates = sorted(source.rglob(STATE)) if source.is_dir() else [source]
    paths = [path for path in candidates if path.name == STATE]
    benchmarks = []
    notes = [
        "An instance without statistics is unscored; instances that a run left out are unknown."
    ]
    unmeasured: list[_NoMeasure] = []
    for path in paths:
        try:
            benchmark, benchmark_notes = _benchmark(path)
        except _NoMeasure as error:
            unmeasured.append(error)
            continue
        benchmarks.append(benchmark)
        notes += benchmark_notes
    if unmeasured and not benchmarks:
        raise OutputError(f"{unmeasured[0]}; import a run with one of {', '.join(MEASURES)}")
    notes += [f"{error}: left out" for error in unmeasured]
    return ImportedRun(format="helm", benchmarks=benchmarks, notes=notes) if benchmarks else None


class _NoMeasure(Exception):
    """A run has no metric that can be the score, as one that measures perplexity or speed alone."""


def _benchmark(path: Path) -> tuple[ImportedBenchmark, list[str]]:
    spec_path = path.with_name(SPEC)
    state = read_object(_content(path), str(path))
    spec = read_object(_content(spec_path), str(spec_path))
    adapter = inner(state, "adapter_spec")
    name = required_field(spec, "name", str, str(spec_path))
    stats, n_perturbed = _stats(path.with_name(STATS))
    measure, others = _measures(stats, spec.get("groups"), path)
    states = required_field(state, "request_states", list, str(path))
    split, n_of_others = _split(states)
    note = f"{name}: the score is {measure}"
    if others:
        note += f"; {', '.join(others)} stand beside it"
    notes = [note]
    if n_of_others:
        notes.append(
            f"{name}: {n_of_others} requests of other splits than {split} were left out, as HELM's"
            " tables do"
        )
    if n_perturbed:
        notes.append(f"{name}: {n_perturbed} perturbed instances were left out")
    benchmark = ImportedBenchmark(
        name=name.partition(":model=")[0].partition(",model=")[0],
        results=partial(_results, states, stats, measure, split, str(path)),
        model=text(adapter.get("model")),
        started=_start_time(states),
        scorer=measure,
        dataset=text((spec.get("scenario_spec") or {}).get("class_name")),
        n_fewshot=whole(adapter.get("max_train_instances")),
        generation=numbers_of((name, adapter.get(name)) for name in _GENERATION),
    )
    return benchmark, notes


def _measures(stats: _Stats, groups: object, path: Path) -> tuple[str, list[str]]:
    """Return the metric that is the score, and those beside it.

    Args:
        stats: Of the instances.
        groups: Of HELM's schema, to which the run belongs.
        path: Of the requests, for messages.

    Raises:
        _NoMeasure: There is none.
    """
    names: set[str] = set().union(*stats.values())  # the keys of each: its metrics
    usable: list[str] = [metric for metric in MEASURES if metric in names]
    if not usable:
        raise _NoMeasure(
            f"{path.parent} has no metric that nel can take for the score (it has"
            f" {', '.join(sorted(names)) or 'none'})"
        )
    measure = usable[0]
    for group in groups if isinstance(groups, list) else ():
        if _OF_GROUPS.get(str(group)) in usable:
            measure = _OF_GROUPS[str(group)]
            break
    return measure, [metric for metric in usable if metric != measure]


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise OutputError(
            f"{path.parent} has no {path.name}; import the whole directory of a run of HELM"
        )
    return read_file(path)


def _start_time(states: list[Any]) -> float | None:
    times = []
    for state in states:
        time = number(inner(state, "result").get("request_datetime"))
        if time is not None:
            times.append(time)
    return min(times, default=None)


def _stats(path: Path) -> tuple[_Stats, int]:
    """Return the means of each instance and trial by metric, and the number of perturbed ones."""
    # The file is a list; in an object it is read as all others are.
    entries = read_object(b'{"stats":' + _content(path) + b"}", str(path)).get("stats")
    by_key: dict[_Key, dict[str, float]] = {}
    n_perturbed = 0
    for position, entry in enumerate(entries if isinstance(entries, list) else ()):
        where = f"{path}, entry {position + 1}"
        if not isinstance(entry, dict):
            raise OutputError(f"{where} is not a JSON object; give an undamaged copy")
        if entry.get("perturbation") is not None:
            n_perturbed += 1
            continue
        instance_id = required_field(entry, "instance_id", str, where)
        key = instance_id, whole(entry.get("train_trial_index")) or 0
        for stat in entry.get("stats") or ():
            name, value = (stat.get("name") or {}).get("name"), number(stat.get("mean"))
            if isinstance(name, str) and value is not None and stat.get("count"):
                by_key.setdefault(key, {})[name] = value
    return by_key, n_perturbed


def _split(states: list[Any]) -> tuple[str | None, int]:
    """Return the split that counts, None for all, and the number of requests of other splits."""
    splits = Counter(map(_split_of, states))
    if not splits[TEST]:
        return None, 0
    return TEST, splits.total() - splits[TEST]


def _split_of(state: object) -> str | None:
    return text(inner(state, "instance").get("split"))


def _results(
    states: list[Any], stats: _Stats, measure: str, split: str | None, path: str
) -> Iterator[ImportedResult]:
    """Yield a result for each instance and trial, of its first request (there is one a choice).

    Args:
        states: The requests.
        stats: Of the instances.
        measure: The metric that is the score.
        split: Which counts; None: all.
        path: Of the requests, for messages.
    """
    keys: set[_Key] = set()
    for position, state in enumerate(states):
        where = f"{path}, request {position + 1}"
        if not isinstance(state, dict):
            raise OutputError(f"{where} is not a JSON object; give an undamaged copy")
        instance = required_field(state, "instance", dict, where)
        key = required_field(instance, "id", str, where), whole(state.get("train_trial_index")) or 0
        is_other = split is not None and _split_of(state) != split
        if is_other or instance.get("perturbation") is not None or key in keys:
            continue
        keys.add(key)
        instance_stats = stats.get(key, {})
        yield ImportedResult(
            sample=_sample(instance, state),
            repeat=key[1],
            response=_response(state, instance_stats),
            outcome=_outcome(state, instance_stats, measure),
        )


def _sample(instance: JsonObject, state: JsonObject) -> Sample:
    request = state.get("request") or {}
    golds = [
        text((reference.get("output") or {}).get("text")) or ""
        for reference in instance.get("references") or ()
        if isinstance(reference, dict) and "correct" in (reference.get("tags") or ())
    ]
    mapping = inner(state, "output_mapping")
    prompt = messages_of(request.get("messages")) or text(request.get("prompt"))
    question = text((instance.get("input") or {}).get("text")) or ""
    metadata = {
        "input": question,
        "split": instance.get("split"),
        **(instance.get("extra_data") or {}),
    }
    return Sample(
        id=str(instance["id"]),
        input=prompt or question,
        target=golds[0] if len(golds) == 1 else golds or None,
        choices=tuple(map(str, mapping.values())) if mapping else None,
        metadata=present(metadata),
        subset=text(instance.get("sub_split")),
    )


def _response(state: JsonObject, stats: Mapping[str, float]) -> Response | None:
    result = inner(state, "result")
    completions = result.get("completions") or []
    if not completions or not isinstance(completions[0], dict):
        return None
    reason = completions[0].get("finish_reason") or {}
    usage = {}
    for name in ("prompt_tokens", "completion_tokens"):
        n_tokens = stats.get(f"num_{name}")
        usage[name] = None if n_tokens is None else int(n_tokens)
    response = read_text(
        text(completions[0].get("text")) or "",
        finish_reason=text(reason.get("reason")) if isinstance(reason, dict) else None,
        reasoning=text((completions[0].get("thinking") or {}).get("text")),
    )
    return replace(
        response,
        usage=Usage(**usage),
        model=text((state.get("request") or {}).get("model_deployment")),
        latency_seconds=number(result.get("request_time")),
    )


def _outcome(state: JsonObject, stats: Mapping[str, float], measure: str) -> Outcome:
    result = inner(state, "result")
    if not result.get("success"):
        why = text(result.get("error")) or "the request has no result"
        return Unscored(cause="infra", kind="unknown", detail=why)
    if measure not in stats:
        why = f"HELM has no {measure} of this instance"
        return Unscored(cause="scorer", kind="unknown", detail=why)
    values = {name: value for name, value in stats.items() if name in MEASURES}
    # Where choices have letters, the completion stands for a text.
    completions = result.get("completions") or [{}]
    letter = (text(completions[0].get("text")) or "").strip()
    answer = text(inner(state, "output_mapping").get(letter))
    return Scored(
        reward=stats[measure], metrics=with_headline(values, measure), answer=answer, details={}
    )
