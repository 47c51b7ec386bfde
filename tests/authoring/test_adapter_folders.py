"""A folder as the dataset of an adapter class, and arguments by the name of its benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nel
from nel import TaskConfig
from nel.errors import NelError
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_results, write_jsonl

ADAPTER = """
from nel.benchmarks import BenchmarkMeta, DefaultDataAdapter, Sample, register_benchmark

@register_benchmark(BenchmarkMeta(
    name="sums", dataset_id="nowhere/sums", subset_list=["main"], metric_list=["exact_match"], few_shot_num=1,
    train_split="train", prompt_template="{question}",
))
class Sums(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["gold"])

    def sample_to_fewshot(self, sample):
        return f"{sample.input} {sample.target}"
"""


def files(tmp_path: Path, test: str = "test", train: str = "train") -> tuple[str, str]:
    """Return the paths of an adapter's file and of a folder with its splits."""
    (tmp_path / "sums.py").write_text(ADAPTER, encoding="utf-8")
    (tmp_path / "data").mkdir()
    write_jsonl(tmp_path / "data" / f"{test}.jsonl", [{"q": "1+1?", "gold": "2"}])
    write_jsonl(tmp_path / "data" / f"{train}.jsonl", [{"q": "2+2?", "gold": "4"}])
    return str(tmp_path / "sums.py"), str(tmp_path / "data")


def two(call: Call, _: int) -> Reply:
    """Answer 2 where the example stands before the question."""
    return answer("2" if "2+2? 4" in call.text and call.text.endswith("1+1?") else "no")


@pytest.mark.parametrize("names", [("test", "train"), ("main_test", "main_train")])
def test_a_folder_is_the_dataset_with_its_splits(tmp_path: Path, names: tuple[str, str]) -> None:
    """Samples and examples come from its files, which are named by the split alone where there is one subset."""
    bench, folder = files(tmp_path, *names)
    with scripted(two, models=["m"]) as endpoint:
        settings: dict[str, Any] = {"endpoint": {"url": endpoint.url, "model": "m"}, "output": {"dir": str(tmp_path)}}
        result = nel.evaluate({"benchmarks": [{"name": bench, "dataset": folder}], **settings})
    assert result.exit_code == 0
    assert [row["reward"] for row in read_results(result.run_dir, "sums")] == [1.0]


def test_arguments_are_found_by_the_benchmark_s_own_name(tmp_path: Path) -> None:
    """A file in ``datasets`` is meant by the name of the benchmark in it, and by its own; both at once are refused."""
    bench, folder = files(tmp_path)
    config: dict[str, Any] = {"model": "m", "api_url": "http://127.0.0.1:9/v1", "datasets": [bench]}
    wanted = {"local_path": folder, "few_shot_num": 0}
    for name in ("sums", bench):
        found = TaskConfig(**config, dataset_args={name: wanted}).run_config()
        assert found["benchmarks"][0]["args"] == wanted
    with pytest.raises(NelError, match="names sums twice"):
        TaskConfig(**config, dataset_args={"sums": wanted, bench: wanted}).run_config()
    with pytest.raises(NelError, match="dataset_args names sum, which datasets does not"):
        TaskConfig(**config, dataset_args={"sum": wanted}).run_config()
