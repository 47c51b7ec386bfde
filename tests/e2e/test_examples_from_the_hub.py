"""Few-shot examples and subsets from a hub: another split, another configuration, and splits that are not there."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.datasets.test_hub import PATIENT
from tests.support.endpoint import answer, scripted
from tests.support.hub import FakeHub, running_hub
from tests.support.runs import nel, read_results

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="the `datasets` library is not installed"),
]


def jsonl(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


CARD = b"""---
configs:
- config_name: easy
  data_files:
  - {split: test, path: easy/test.jsonl}
  - {split: dev, path: easy/dev.jsonl}
- config_name: hard
  data_files:
  - {split: test, path: hard/test.jsonl}
  - {split: dev, path: hard/dev.jsonl}
---
"""
FILES = {
    "test.jsonl": jsonl({"q": "3+3", "a": "6"}),
    "train.jsonl": jsonl({"q": "1+1", "a": "2"}, {"q": "2+2", "a": "4"}),
}
SUBSETS = {"README.md": CARD} | {
    f"{level}/{split}.jsonl": jsonl({"q": f"{level} {split}", "a": level})
    for level in ("easy", "hard")
    for split in ("test", "dev")
}


ADAPTER = """
from nel.benchmarks import BenchmarkMeta, DefaultDataAdapter, Sample, register_benchmark

@register_benchmark(BenchmarkMeta(name="levels", dataset_id="acme/levels", subset_list=["easy", "hard"],
                                  few_shot_num=1, train_split="dev"))
class Levels(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

    def sample_to_fewshot(self, sample):
        return f"{sample.input} is {sample.target}"
"""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A hub on loopback; the environment that leads to it."""
    served = FakeHub(repos={"acme/sums": FILES, "acme/levels": SUBSETS})
    with running_hub(served):
        yield {"HF_ENDPOINT": served.url, "HF_HOME": str(tmp_path / "hf"), "NO_PROXY": "*"} | PATIENT


def run(tmp_path: Path, hub: dict[str, str], source: str) -> tuple[Any, list[str]]:
    (tmp_path / "bench.py").write_text(source)
    with scripted(lambda *_: answer("easy"), models=["m"]) as endpoint:
        common = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--run-id", "r")
        done = nel("eval", "run", "--bench", "bench.py", *common, cwd=tmp_path, env=hub)
        return done, [call.body["messages"][-1]["content"] for call in endpoint.calls]


def test_subsets_are_configurations_with_examples_of_their_own(tmp_path: Path, hub: dict[str, str]) -> None:
    """An adapter's subsets are loaded one by one, each with the examples of its own train split."""
    done, asked = run(tmp_path, hub, ADAPTER)
    assert done.returncode == 0, done.stderr
    intro = "Here are some examples of how to answer similar questions:\n\n"
    assert sorted(asked) == [f"{intro}{level} dev is {level}\n\n{level} test" for level in ("easy", "hard")]
    rows = read_results(tmp_path / "out" / "r", "levels")
    assert [(row["metadata"]["category"], row["reward"]) for row in rows] == [("easy", 1.0), ("hard", 0.0)]
