"""Runs of HELM become runs of nel; an instance that HELM could not ask or measure is unscored, never 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.importing.writers import import_results
from nel.errors import OutputError
from nel.reports.run_warnings import texts_of
from tests.support.runs import read_json, read_results

SPEC: dict[str, Any] = {
    "name": "mmlu:subject=law,method=multiple_choice_joint,model=maker_m",
    "scenario_spec": {"class_name": "helm.benchmark.scenarios.mmlu_scenario.MMLUScenario", "args": {"subject": "law"}},
    "adapter_spec": {"method": "multiple_choice_joint"}, "metric_specs": [], "groups": ["mmlu"],
}  # fmt: skip
ADAPTER = {
    "method": "multiple_choice_joint",
    "model": "maker/m",
    "model_deployment": "host/m",
    "max_train_instances": 5,
    "temperature": 0.0,
    "max_tokens": 1,
}


def state(number: int, text: str | None, **more: Any) -> dict[str, Any]:
    """Return a request as HELM writes it, which leaves out what is None."""
    result: dict[str, Any] = {"success": False, "error": "rate limit", "completions": [], "cached": False}
    if text is not None:
        completion = {"text": text, "logprob": -1.0, "tokens": [], "finish_reason": {"reason": "length"}}
        times = {"request_time": 0.25, "request_datetime": 1_700_000_000}
        result = {"success": True, "embedding": [], "completions": [completion], "cached": False, **times}
    references = [
        {"output": {"text": "yes"}, "tags": ["correct"]},
        {"output": {"text": "no"}, "tags": []},
    ]
    instance = {"input": {"text": f"q{number}"}, "references": references, "split": "test", "id": f"id{number}"}
    request = {"model": "maker/m", "model_deployment": "host/m", "prompt": f"Question: q{number}\nAnswer:"}
    found = {"train_trial_index": 0, "output_mapping": {"A": "yes", "B": "no"}, "request": request, "result": result}
    return {"instance": {**instance, **more}, "num_train_instances": 5, "prompt_truncated": False, **found}


def stats(number: int, value: float | None, **more: Any) -> dict[str, Any]:
    named = {"num_prompt_tokens": 30.0, "num_completion_tokens": 1.0}
    values = named if value is None else {"exact_match": value, "quasi_exact_match": value, **named}
    values |= more.pop("metrics", {})
    listed = [{"name": {"name": name, "split": "test"}, "count": 1, "mean": one} for name, one in values.items()]
    return {"instance_id": f"id{number}", "train_trial_index": 0, "stats": listed, **more}


PERTURBED = {"perturbation": {"name": "typos"}}
STATES = [
    state(1, "A"), state(9, "A", split="valid"), state(2, "B"), state(3, None), state(4, "A"),
    state(1, "B", **PERTURBED),
]  # fmt: skip
STATS = [stats(1, 1.0), stats(9, 1.0), stats(2, 0.0), stats(3, 0.0), stats(4, None), stats(1, 0.0, **PERTURBED)]


def bundle(path: Path, *, states: Any = STATES, listed: Any = STATS, group: str = "mmlu") -> Path:
    path.mkdir(parents=True)
    found = {"adapter_spec": ADAPTER, "request_states": states}
    spec = {**SPEC, "groups": [group]}
    for name, value in (("run_spec", spec), ("scenario_state", found), ("per_instance_stats", listed)):
        (path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return path


def test_a_run_is_read(tmp_path: Path) -> None:
    """Scores, texts, choices, tokens and times are kept; a failed request, whatever its statistics, is unscored."""
    bundle(tmp_path / "suite" / "runs" / "mmlu")
    found = import_results(tmp_path / "suite", tmp_path / "run")
    (folder,) = (one.parent for one in (tmp_path / "run").glob("*/metrics.json"))
    metrics = read_json(folder / "metrics.json")
    results = read_results(folder.parent, folder.name)
    assert found.benchmarks[0].name == "mmlu:subject=law,method=multiple_choice_joint"
    assert [one["reward"] for one in results] == [1.0, 0.0, None, None]
    assert [one["outcome"]["cause"] for one in results] == [None, None, "infra", "scorer"]
    assert (results[0]["expected_answer"], results[0]["extracted_answer"], results[1]["extracted_answer"]) == (
        "yes", "yes", "no"
    )  # fmt: skip
    assert results[0]["tokens"]["prompt"] == 30
    assert results[0]["timing"]["latency_seconds"] == 0.25
    assert metrics["accounting"]["n_scored"] == 2
    assert (metrics["headline"]["metric"], metrics["headline"]["value"]) == ("exact_match", 0.5)
    said = " ".join(texts_of(metrics))
    assert "the score is exact_match; quasi_exact_match stand beside it" in said
    assert "1 requests of other splits than test were left out" in said
    assert "1 perturbed instances were left out" in said


@pytest.mark.parametrize(
    ("group", "metrics", "measure"),
    [
        ("med_qa", {}, "quasi_exact_match"),
        ("narrative_qa", {"f1_score": 0.5, "rouge_l": 0.4, "bleu_4": 0.1}, "f1_score"),
        ("wmt_14", {"f1_score": 0.5, "rouge_l": 0.4, "bleu_4": 0.1}, "bleu_4"),
        ("wildbench", {"wildbench_score": 7.0, "wildbench_score_rescaled": 0.75}, "wildbench_score_rescaled"),
        ("omni_math", {"omni_math_accuracy": 1.0}, "omni_math_accuracy"),
    ],
)
def test_the_score_is_the_metric_of_helms_own_table(
    tmp_path: Path, group: str, metrics: dict[str, float], measure: str
) -> None:
    """The main_name of a group in HELM's schemas of Lite and Capabilities is the score of its runs."""
    source = bundle(tmp_path / "run", group=group, listed=[stats(1, 0.0, metrics=metrics)])
    assert import_results(source, tmp_path / "out").benchmarks[0].scorer == measure


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A run without the files or without a metric that is a score is refused, and no run is made."""
    partial = bundle(tmp_path / "a")
    (partial / "per_instance_stats.json").unlink()
    with pytest.raises(OutputError, match=r"has no per_instance_stats\.json; import the whole directory"):
        import_results(partial, tmp_path / "run")
    with pytest.raises(OutputError, match=r"no metric that nel can take for the score \(it has num_completion_tokens"):
        import_results(bundle(tmp_path / "b", listed=[stats(1, None)]), tmp_path / "run")
    with pytest.raises(OutputError, match=r'request 1: "instance" is missing'):
        import_results(bundle(tmp_path / "c", states=[{}]), tmp_path / "run")
    assert not (tmp_path / "run").exists()
