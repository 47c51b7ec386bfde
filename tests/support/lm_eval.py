"""What the comparison with lm-evaluation-harness and its tests share: the tasks, their rows, and nel's runs of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nel.engine.store.schema import connect
from tests.support.endpoint import Call

BENCHES = Path(__file__).with_name("lm_eval_benches.py")
GENERATION = {
    "temperature": 0.0, "max_tokens": 256, "seed": 1234, "stop": ["Question:", "</s>", "<|im_end|>"],
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task of the harness, its benchmark in nel, and how many examples both show."""

    file: str
    """Below lm_eval/tasks."""
    benchmark: str
    shots: int = 2
    examples_split: str = "train"


TASKS = {
    "arc_easy": Task(file="arc/arc_easy.yaml", benchmark="arc_easy", shots=0),
    "arc_challenge": Task(file="arc/arc_challenge.yaml", benchmark="arc_challenge"),
    "hellaswag": Task(file="hellaswag/hellaswag.yaml", benchmark="hellaswag"),
    "boolq": Task(file="super_glue/boolq/default.yaml", benchmark="boolq"),
    "piqa": Task(file="piqa/piqa.yaml", benchmark="piqa"),
    "winogrande": Task(file="winogrande/default.yaml", benchmark="winogrande"),
    "mmlu_anatomy": Task(file="mmlu/default/mmlu_anatomy.yaml", benchmark="mmlu", examples_split="dev"),
    "mmlu_high_school_physics": Task(
        file="mmlu/default/mmlu_high_school_physics.yaml", benchmark="mmlu", examples_split="dev"
    ),
    "truthfulqa_mc1": Task(file="truthfulqa/truthfulqa_mc1.yaml", benchmark="truthfulqa_mc1", shots=0),
    "truthfulqa_mc2": Task(file="truthfulqa/truthfulqa_mc2.yaml", benchmark="truthfulqa_mc2", shots=0),
    "gsm8k": Task(file="gsm8k/gsm8k.yaml", benchmark="gsm8k"),
}
CHAT = ("gsm8k",)


def json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def write_rows(folder: Path, name: str, rows: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write a task's samples and examples as JSON lines, and return where."""
    places = (folder / f"{name}.jsonl", folder / f"{name}_examples.jsonl")
    for place, part in zip(places, ("samples", "examples"), strict=True):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[part])
        place.write_text(text, encoding="utf-8")
    return places


def nel_config(folder: Path, name: str, *, url: str, model: str) -> dict[str, Any]:
    """Return the configuration of nel's run of one task on the rows that `write_rows` wrote."""
    task = TASKS[name]
    entry: dict[str, Any] = {
        "name": f"{BENCHES}:{task.benchmark}", "dataset": str(folder / f"{name}.jsonl"), "num_fewshot": task.shots,
    }  # fmt: skip
    if task.shots:
        entry["fewshot_dataset"] = str(folder / f"{name}_examples.jsonl")
    return {
        "endpoint": {"url": url, "model": model},
        "benchmarks": [entry],
        "generation": GENERATION if name in CHAT else {"seed": GENERATION["seed"]},
        "output": {"dir": str(folder / "runs" / name)},
    }


def read_samples(run_dir: Path) -> list[dict[str, Any]]:
    """Return the result lines of a run of one benchmark, each with ``sums``, those of its choices."""
    (results,) = run_dir.glob("*/results.jsonl")
    lines = sorted(json_lines(results.read_text(encoding="utf-8")), key=lambda line: line["problem_idx"])
    with closing(connect(run_dir / "run.db", readonly=True)) as store:
        stored = store.execute("SELECT response FROM steps WHERE role = 0 ORDER BY idx").fetchall()
    for line, (response,) in zip(lines, stored, strict=True):
        line["sums"] = [score["logprob"] for score in json.loads(response).get("choice_scores") or ()]
    return lines


def prompts_of(call: Call) -> list[str]:
    """Return the prompts of one request to a completions endpoint."""
    return call.body["prompt"] if isinstance(call.body["prompt"], list) else [call.body["prompt"]]
