"""What an adapter written for EvalScope reads: the subset, split, name and commit that EvalScope's loader would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel import TaskConfig
from nel.authoring.registry import find_benchmark
from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.loading import Subsets
from nel.datasets.source import open_dataset
from nel.errors import ConfigError
from tests.support.runs import write_jsonl

FILE = """
from evalscope.api.benchmark import BenchmarkMeta, DefaultDataAdapter
from evalscope.api.dataset import Sample
from evalscope.api.registry import register_benchmark

@register_benchmark(BenchmarkMeta(**{meta}))
class Own(DefaultDataAdapter):
    def __init__(self, **options):
        super().__init__(**options)
        {body}

    def record_to_sample(self, record):
        return Sample(input=record["q"], target="x", subset_key=record.get("key"))
"""


def adapter(folder: Path, body: str = "pass", arguments: dict[str, Any] | None = None, **meta: Any) -> AdaptedBenchmark:
    """Return the benchmark of an adapter with this meta, whose `__init__` ends with the body."""
    path = folder / "own.py"
    declared = {"name": "own", "dataset_id": "org/own", "metric_list": ["acc"], **meta}
    path.write_text(FILE.format(meta=declared, body=body), encoding="utf-8")
    benchmark = find_benchmark(str(path))
    assert isinstance(benchmark, AdaptedBenchmark)
    return benchmark.with_arguments(arguments or {})


def sources(benchmark: AdaptedBenchmark) -> list[str]:
    """Return what the evaluated rows are read from."""
    source = benchmark.dataset
    return list(source.sources.values()) if isinstance(source, Subsets) else [str(source)]


BY_SPLIT = "self.split_as_subset = True"


@pytest.mark.parametrize(
    ("body", "meta", "wanted"),
    [
        (
            BY_SPLIT,
            {"subset_list": ["en", "hi"], "default_subset": "BBA"},
            ["split=en&config=BBA", "split=hi&config=BBA"],
        ),
        (BY_SPLIT, {"subset_list": ["en", "hi"]}, ["split=en", "split=hi"]),
        (
            f"{BY_SPLIT}; self.default_subset = 'BBF'",
            {"subset_list": ["en"], "default_subset": "BBA"},
            ["split=en&config=BBF"],
        ),
        (
            f"{BY_SPLIT}; self.reformat_subset = True",
            {"subset_list": ["a", "b"], "default_subset": "en"},
            ["split=en&config=en"],
        ),
        ("self.reformat_subset = True", {"subset_list": ["a"], "default_subset": "all"}, ["split=test&config=all"]),
        ("pass", {"subset_list": ["a", "b"], "default_subset": "all"}, ["split=test&config=a", "split=test&config=b"]),
    ],
)
def test_a_subset_and_a_split_are_those_of_evalscope(
    tmp_path: Path, body: str, meta: dict[str, Any], wanted: list[str]
) -> None:
    """Where splits are the subsets, each is read of `default_subset`; one called default is the dataset's own."""
    assert sources(adapter(tmp_path, body, **meta)) == [f"hf://org/own?{query}" for query in wanted]


def test_the_split_of_another_subset_is_not_read_from_a_folder(tmp_path: Path) -> None:
    """The files of both subsets are there, and the declared one is read."""
    data = tmp_path / "data"
    data.mkdir()
    for name in ("default_en", "BBA_en", "default_hi", "BBA_hi"):
        write_jsonl(data / f"{name}.jsonl", [{"q": name}])
    benchmark = adapter(tmp_path, BY_SPLIT, {"local_path": str(data)}, subset_list=["en", "hi"], default_subset="BBA")
    assert [row.data["q"] for row in open_dataset(benchmark.dataset).read()] == ["BBA_en", "BBA_hi"]


@pytest.mark.parametrize(
    ("meta", "arguments", "wanted"),
    [
        ({"hf_dataset_id": "hf/own"}, {}, "hf://hf/own?split=test"),
        ({"dataset_revision": "a1"}, {}, "hf://org/own?split=test&revision=a1"),
        (
            {"hf_dataset_id": "hf/own", "dataset_revision": "a1", "hf_dataset_revision": "b2"},
            {},
            "hf://hf/own?split=test&revision=b2",
        ),
        (
            {"hf_dataset_id": "hf/own", "hf_dataset_revision": "b2"},
            {"dataset_id": "my/own", "dataset_revision": "c3"},
            "hf://my/own?split=test&revision=c3",
        ),
        ({"hf_dataset_id": "hf/own"}, {"hf_dataset_id": "hf/other"}, "hf://hf/other?split=test"),
        (
            {"hf_dataset_id": "hf/own", "dataset_revision": "a1"},
            {"dataset_id": "ms://org/own"},
            "ms://org/own?split=test",
        ),
    ],
)
def test_a_dataset_has_its_own_name_and_commit_on_a_hub(
    tmp_path: Path, meta: dict[str, Any], arguments: dict[str, Any], wanted: str
) -> None:
    """On Hugging Face the declared one for it; another dataset that a run names has neither."""
    assert sources(adapter(tmp_path, arguments=arguments, **meta)) == [wanted]


def test_modelscope_has_the_dataset_by_its_declared_name_and_commit(tmp_path: Path) -> None:
    """The name and the commit for Hugging Face say nothing there."""
    adapter(tmp_path, hf_dataset_id="hf/own", dataset_revision="a1", hf_dataset_revision="b2")
    task = TaskConfig(model="m", api_url="http://127.0.0.1:9/v1", datasets=[str(tmp_path / "own.py")],
                      dataset_hub="modelscope")  # fmt: skip
    (entry,) = task.run_config()["benchmarks"]
    assert entry["args"] == {"dataset_id": "ms://org/own", "dataset_revision": "a1"}


@pytest.mark.parametrize(
    ("meta", "asked", "message"),
    [
        ({"few_shot_mode": "disabled"}, 2, "few_shot_num is 2, and the benchmark takes 0"),
        ({"few_shot_mode": "fixed", "allowed_few_shot_nums": (0, 3)}, 2, "takes 0, 3"),
        ({"allowed_few_shot_nums": (0, 3), "train_split": "train"}, 4, "takes 0, 3"),
    ],
)
def test_a_number_of_examples_that_a_benchmark_does_not_take_is_refused(
    tmp_path: Path, meta: dict[str, Any], asked: int, message: str
) -> None:
    """As by EvalScope, instead of a prompt with an empty place for them."""
    with pytest.raises(ConfigError, match=message):
        adapter(tmp_path, arguments={"few_shot_num": asked}, **meta)


def test_rows_that_are_shuffled_before_a_limit_are_refused(tmp_path: Path) -> None:
    """The first of them would be others than EvalScope's; all of them are the same."""
    assert sources(adapter(tmp_path, shuffle=True)) == ["hf://org/own?split=test"]
    with pytest.raises(ConfigError, match="own shuffles its rows before a limit"):
        adapter(tmp_path, arguments={"limit": 5}, shuffle=True)
