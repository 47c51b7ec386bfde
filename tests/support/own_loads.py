"""Adapters for EvalScope with a step of loading of their own, one for each step, and the rows that they read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

HEAD: Final = """\
from evalscope.api.benchmark import BenchmarkMeta, DefaultDataAdapter, MultiChoiceAdapter
from evalscope.api.dataset import DatasetDict, DictDataLoader, MemoryDataset, Sample, build_dataset_from_records
from evalscope.api.registry import register_benchmark


class Base(MultiChoiceAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], choices=["red", "blue", record["more"]], target=record["a"],
                      metadata={"subset": self.current_subset_name})

    def sample_to_fewshot(self, sample):
        return f"Q: {sample.input} -> {sample.target}"


def meta(name):
    return BenchmarkMeta(
        name=name, pretty_name=name, description="of a test", dataset_id="rows", subset_list=["x", "y"],
        metric_list=["acc"], few_shot_num=2, train_split="train", eval_split="test",
        prompt_template="{question}\\n{choices}\\nANSWER: one of {letters}",
        few_shot_prompt_template="Examples:\\n{fewshot}\\n\\n{question}\\n{choices}\\nANSWER: one of {letters}")


def upper(dataset):
    for sample in dataset:
        sample.input = sample.input.upper()
    return dataset


"""
STEPS: Final = {
    "load_dataset": "(self):\n        found = super().load_dataset()\n        return DatasetDict({'y': found['y']})",
    "load": (
        "(self):\n        rows = [{'q': f'Own {n}?', 'a': 'AB'[n % 2], 'more': str(n)} for n in range(5)]\n"
        "        made = build_dataset_from_records(rows[:3], self.record_to_sample, name='x', location=None,\n"
        "                                          limit=None, repeats=1, shuffle=False, seed=None)\n"
        "        shots = DictDataLoader(dict_list=rows[3:], sample_fields=self.record_to_sample).load()\n"
        "        return DatasetDict({'x': made}), DatasetDict({'x': shots})"
    ),
    "load_from_remote": "(self):\n        found, shots = super().load_from_remote()\n        return shots, found",
    "load_from_disk": "(self, **_):\n        return super().load_from_disk(use_local_loader=True)",
    "load_subsets": (
        "(self, load_func, is_fewshot=False):\n"
        "        found = super().load_subsets(load_func, is_fewshot)\n"
        "        return DatasetDict({'all': MemoryDataset(list(found['y']) + list(found['x']))})"
    ),
    "load_subset": "(self, subset, data_loader):\n        return upper(super().load_subset(subset, data_loader))",
    "load_fewshot_subset": (
        "(self, subset, data_loader):\n        return upper(super().load_fewshot_subset('x', data_loader))"
    ),
    "_post_process_samples": (
        "(self):\n        super()._post_process_samples()\n"
        "        for sample in self.test_dataset['x']:\n            sample.input = sample.input[-1:]\n"
        "            sample.input[0].content += ' (x)'"
    ),
}
"""The rest of each method, after its name."""


def write_adapter(folder: Path, step: str) -> Path:
    """Write an adapter with its own method for one step; return the file."""
    name = f"own_{step.strip('_')}"
    path = folder / f"{name}.py"
    body = f'@register_benchmark(meta("{name}"))\nclass Own(Base):\n    def {step}{STEPS[step]}\n'
    path.write_text(HEAD + body, encoding="utf-8")
    return path


def write_rows(folder: Path) -> Path:
    """Write a folder of two subsets with questions and examples, laid out as both tools read it."""
    folder.mkdir()
    configs: list[str] = []
    for subset in "xy":
        configs += [f"- config_name: {subset}", "  data_files:"]
        for split, count in (("test", 3), ("train", 4)):
            rows = [{"q": f"{subset} {split} {n}?", "a": "ABC"[n % 3], "more": f"no. {n}"} for n in range(count)]
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"{subset}_{split}.jsonl").write_text(text, encoding="utf-8")
            configs += [f"  - split: {split}", f"    path: {subset}_{split}.jsonl"]
    (folder / "README.md").write_text("---\nconfigs:\n" + "\n".join(configs) + "\n---\n", encoding="utf-8")
    return folder
