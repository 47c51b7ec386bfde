"""The published groups and tags of lm_eval have the same numbers through nel as through lm_eval itself: every task, and
every mean over tasks.
"""

from __future__ import annotations

import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from published_groups import files_of, published, write_hub

from nel import evaluate

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.support.endpoint import Endpoint, scripted

EOS = "\x7f"
GROUPS = ("mmlu", "blimp", "bbh", "leaderboard", "ai2_arc", "wmt16")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve the scripted model."""
    with scripted(published, models=["letters"]) as served:
        yield served


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """Return a tokenizer of single characters, as the scripted model has."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from tokenizers import Tokenizer, decoders, models  # noqa: PLC0415 - comes with transformers

    known = sorted({*string.printable, *map(chr, range(128, 0x2600))})
    vocabulary = {letter: place for place, letter in enumerate([*known, EOS])}
    built = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    built.decoder = decoders.Fuse()
    folder = str(tmp_path / "tokenizer")
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=built, eos_token=EOS, clean_up_tokenization_spaces=False
    ).save_pretrained(folder)
    return folder


def _harness(url: str, name: str, tokenizer: str, manager: Any) -> dict[str, Any]:
    from lm_eval import simple_evaluate  # noqa: PLC0415 - skipped where it is not there

    arguments = {
        "model": "letters", "base_url": f"{url}/completions", "tokenizer": tokenizer, "tokenizer_backend": "huggingface",
        "tokenized_requests": False, "max_length": 100_000, "num_concurrent": 8, "eos_string": EOS,
    }  # fmt: skip
    return simple_evaluate(
        "local-completions", arguments, [name], task_manager=manager, bootstrap_iters=0
    )


def _numbers(results: dict[str, Any]) -> dict[str, float]:
    """Return the harness' numbers by nel's names of their metrics."""
    return {
        key.partition(",")[0]
        + ("" if key.endswith(",none") else f"_{key.partition(',')[2]}"): value
        for key, value in results.items()
        if "," in key and "_stderr" not in key and isinstance(value, float)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPS)
def test_a_published_group_has_the_numbers_of_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint, tokenizer: str, name: str
) -> None:
    """Every metric of every task, and every mean over the tasks of a group, of groups in it included."""
    for variable in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(variable, "1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    pytest.importorskip("lm_eval", reason="lm_eval is not installed: pip install 'lm_eval[api]'")
    from lm_eval.tasks import TaskManager  # noqa: PLC0415 - skipped where it is not there

    manager = TaskManager()
    write_hub(tmp_path, files_of(manager, name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    theirs = _harness(endpoint.url, name, tokenizer, manager)
    result = evaluate(
        {
            "endpoint": {"url": endpoint.url, "model": "letters", "protocol": "completions"},
            "benchmarks": [{"name": f"lm-eval://{name}?prefix_token=%7F", "truncated": "score"}],
            "output": {"dir": str(tmp_path / "out")},
        }
    )
    assert result.exit_code == 0
    groups = theirs.get("groups", {})
    tasks = {
        task: _numbers(values) for task, values in theirs["results"].items() if task not in groups
    }
    ours = {each.name.removeprefix("lm-eval-"): each.metrics for each in result.benchmarks}
    assert {task.lower() for task in tasks} == ours.keys()
    for task, numbers in tasks.items():
        rows = {row["name"]: row["value"] for row in ours[task.lower()]["metrics"]}
        shared = numbers.keys() & rows.keys()
        assert shared, (task, numbers, rows)
        assert {metric: rows[metric] for metric in shared} == pytest.approx(
            {metric: numbers[metric] for metric in shared}, abs=1e-12
        )
    means = {(row["aggregate"].partition(" (")[0], row["name"]): row for row in result.aggregates}
    expected = {
        (values["alias"].strip(" -"), metric): value
        for values in groups.values()
        for metric, value in _numbers(values).items()
    }
    assert means.keys() == expected.keys()
    for key, value in expected.items():
        if means[key]["value"] is not None:
            assert means[key]["value"] == pytest.approx(value, abs=1e-12)
