"""An exporter: the rewards of a run, one line for each result."""

from __future__ import annotations

import json
from pathlib import Path

from nel.artifacts.exporting import Exported


def export_rewards(run_dir: Path, output: Path) -> Exported:
    """Write rewards.txt; a result without a score is a dash, never 0."""
    lines = []
    for path in sorted(run_dir.glob("*/results.jsonl")):
        for text in path.read_text(encoding="utf-8").split("\n")[:-1]:
            result = json.loads(text)
            reward = "-" if result["reward"] is None else result["reward"]
            lines.append(f"{path.parent.name} {result['sample_id']} {reward}\n")
    file = output / "rewards.txt"
    file.write_text("".join(lines), encoding="utf-8")
    return Exported(files=[file], notes=["A dash is a result without a score."])
