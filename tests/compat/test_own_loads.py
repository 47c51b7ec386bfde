"""Adapters of EvalScope that load their samples by a method of their own run without EvalScope, within a limit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nel import evaluate
from nel.authoring.fewshot_loading import bind_examples
from nel.authoring.registry import find_benchmark
from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.datasets.source import open_dataset
from nel.errors import ConfigError, DatasetError
from nel.runs.evaluation import rescore
from nel.types import Sample
from tests.support.endpoint import answer, scripted
from tests.support.own_loads import HEAD, STEPS, write_adapter, write_rows
from tests.support.runs import run_config


def loaded(path: Path, folder: Path, **arguments: Any) -> AdaptedBenchmark:
    found = find_benchmark(str(path))
    assert isinstance(found, AdaptedBenchmark)
    return found.with_arguments({"local_path": str(folder), **arguments})


def samples_of(benchmark: AdaptedBenchmark) -> list[Sample]:
    rows = benchmark.select(open_dataset(benchmark.dataset).read())
    return [benchmark.sample(row.data, sample_id=str(row.number)) for row in rows]


def prompt(examples: str, question: str, more: str) -> str:
    return f"Examples:\n{examples}\n\n{question}\nA) red\nB) blue\nC) {more}\nANSWER: one of A,B,C"


SHOTS = {name: f"Q: {name} train 0? -> A\n\nQ: {name} train 1? -> B" for name in "xy"}
WANTED: dict[str, tuple[list[tuple[str, int]], str]] = {
    "load_dataset": ([("y", 3)], prompt(SHOTS["y"], "y test 0?", "no. 0")),
    "load": ([("x", 3)], prompt("Q: Own 3? -> B\n\nQ: Own 4? -> A", "Own 0?", "0")),
    "load_from_remote": (
        [("x", 2), ("y", 2)],
        prompt("Q: x test 0? -> A\n\nQ: x test 1? -> B\n\nQ: x test 2? -> C", "x train 0?", "no. 0"),
    ),
    "load_from_disk": ([("x", 3), ("y", 3)], prompt(SHOTS["x"], "x test 0?", "no. 0")),
    "load_subsets": ([("all", 6)], prompt(f"{SHOTS['y']}\n\n{SHOTS['x']}", "y test 0?", "no. 0")),
    "load_subset": ([("x", 3), ("y", 3)], prompt(SHOTS["x"], "X TEST 0?", "no. 0")),
    "load_fewshot_subset": (
        [("x", 3), ("y", 3)],
        prompt(SHOTS["x"].replace("x train", "X TRAIN"), "x test 0?", "no. 0"),
    ),
    "_post_process_samples": ([("x", 3), ("y", 3)], prompt(SHOTS["x"], "x test 0?", "no. 0") + " (x)"),
}


@pytest.mark.parametrize("step", STEPS)
def test_each_step_of_loading_can_be_the_adapters_own(tmp_path: Path, step: str) -> None:
    """Its samples are asked, in its subsets, with its examples; the plugin's tests compare them with EvalScope's."""
    found = samples_of(loaded(write_adapter(tmp_path, step), write_rows(tmp_path / "rows")))
    counts, first = WANTED[step]
    subsets = [one.subset for one in found]
    assert [(name, subsets.count(name)) for name in dict.fromkeys(subsets)] == counts
    assert found[0].input == first
    assert found[0].choices is not None
    assert len(found[0].choices) == 3


def test_a_run_is_scored_limited_and_rescored(tmp_path: Path) -> None:
    """A limit holds for each subset, verdicts are the adapter's, and a rescoring asks nothing."""
    path = write_adapter(tmp_path, "load_subset")
    args = {"local_path": str(write_rows(tmp_path / "rows")), "limit": 2}
    with scripted(lambda *_: answer("ANSWER: B"), models=["m"]) as endpoint:
        settings = run_config(endpoint.url, [{"name": str(path), "args": args}], tmp_path / "out")
        result = evaluate(settings)
        assert len(endpoint.of_samples) == 4
        assert rescore(result.run_dir).exit_code == 0
        assert len(endpoint.of_samples) == 4
    (item,) = result.benchmarks
    assert item.headline["value"] == 0.5


MADE = """
    def made(self, **given):
        return DatasetDict({"x": DictDataLoader(**{"sample_fields": self.record_to_sample, **given}).load()})
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 / 0", "Own.load_dataset failed: ZeroDivisionError"),
        ("return self.made(dict_list=[{}]), None", "row 1: record_to_sample failed: KeyError: 'q'"),
        ("return self.made(dict_list=[], shuffle=True), None", "leave out shuffle"),
        ("return self.made(dict_list=[], sample_fields=3), None", "give record_to_sample"),
    ],
)
def test_a_load_that_fails_ends_the_run_before_anything_is_sent(tmp_path: Path, body: str, message: str) -> None:
    """With the adapter's name and the reason."""
    path = tmp_path / "own.py"
    path.write_text(
        f'{HEAD}@register_benchmark(meta("own"))\nclass Own(Base):{MADE}\n    def load(self):\n        {body}\n'
    )
    with pytest.raises(DatasetError, match=message):
        samples_of(loaded(path, write_rows(tmp_path / "rows")))


def test_other_examples_and_rows_are_refused(tmp_path: Path) -> None:
    """The adapter loads both itself."""
    benchmark = loaded(write_adapter(tmp_path, "load_subset"), write_rows(tmp_path / "rows"))
    with pytest.raises(ConfigError, match=r"instead of --num-fewshot give args\.few_shot_num"):
        bind_examples(replace(benchmark, num_fewshot=1))
    with pytest.raises(DatasetError, match=r"name its data with local_path=FOLDER"):
        benchmark.sample({"q": "?"}, sample_id="0")
    few = loaded(write_adapter(tmp_path, "load_subset"), tmp_path / "rows", few_shot_num=9)
    with pytest.raises(DatasetError, match="9 examples are asked for, and there are 4"):
        samples_of(few)
