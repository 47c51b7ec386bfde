"""Adapter files and data for the tests of the bridge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ADAPTERS = """
from evalscope.api.benchmark import BenchmarkMeta, DefaultDataAdapter, MultiChoiceAdapter
from evalscope.api.dataset import DatasetDict, Sample
from evalscope.api.registry import register_benchmark


@register_benchmark(BenchmarkMeta(
    name="own_choices", pretty_name="own_choices", description="of a test", dataset_id="none",
    subset_list=["a", "b"], metric_list=["acc"], eval_split="test",
    prompt_template="{question}\\n\\n{choices}\\n\\nEnd with ANSWER: [LETTER], one of {letters}.",
))
class OwnChoices(MultiChoiceAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], choices=record["options"], target=record["gold"], metadata={"q": record["q"]})


@register_benchmark(BenchmarkMeta(
    name="own_loader", pretty_name="own_loader", description="of a test", dataset_id="none",
    subset_list=["even", "odd"], metric_list=["exact_match"],
    prompt_template="{question} One number.", system_prompt="Be brief.",
))
class OwnLoader(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["gold"], id=int(record["gold"]), group_id=int(record["gold"]))

    def load(self):
        rows = [self.record_to_sample({"q": f"{n}+1?", "gold": str(n + 1)}) for n in range(4)]
        from evalscope.api.dataset import MemoryDataset
        return DatasetDict({"even": MemoryDataset(rows[::2]), "odd": MemoryDataset(rows[1::2])}), None

    def extract_answer(self, prediction, task_state):
        return prediction.strip(" .")


@register_benchmark(BenchmarkMeta(
    name="asks_twice", pretty_name="asks_twice", description="of a test", dataset_id="none",
    subset_list=["even", "odd"],
    metric_list=["exact_match"], prompt_template="{question}",
))
class AsksTwice(OwnLoader):
    def _on_inference(self, model, sample):
        model.generate(input=sample.input)
        return model.generate(input=sample.input)


@register_benchmark(BenchmarkMeta(
    name="breaks", pretty_name="breaks", description="of a test", dataset_id="none",
    subset_list=["even", "odd"],
    metric_list=["exact_match"], prompt_template="{question}",
))
class Breaks(OwnLoader):
    def match_score(self, original_prediction, filtered_prediction, reference, task_state):
        if filtered_prediction == "1":
            raise RuntimeError("no")
        return super().match_score(original_prediction, filtered_prediction, reference, task_state)


@register_benchmark(BenchmarkMeta(
    name="bytes", pretty_name="bytes", description="of a test", dataset_id="none",
    subset_list=["even", "odd"], metric_list=["exact_match"], prompt_template="{question}",
))
class Bytes(OwnLoader):
    def record_to_sample(self, record):
        sample = super().record_to_sample(record)
        sample.metadata = {"picture": bytes([255, 254])} if record["gold"] == "2" else {}
        return sample
"""


def write_adapters(folder: Path) -> str:
    """Return the path of a file of adapters."""
    path = folder / "adapters.py"
    path.write_text(ADAPTERS, encoding="utf-8")
    return str(path)


def write_data(folder: Path, subsets: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    """Return a folder of data with splits for each subset, as the hubs lay them out."""
    configs = []
    for subset, splits in subsets.items():
        lines = [f"- config_name: {subset}", "  data_files:"]
        for split, rows in splits.items():
            name = f"{subset}-{split}.jsonl"
            (folder / name).write_text(
                "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
            )
            lines += [f"  - split: {split}", f"    path: {name}"]
        configs += lines
    (folder / "README.md").write_text(
        "---\nconfigs:\n" + "\n".join(configs) + "\n---\n", encoding="utf-8"
    )
    return str(folder)
