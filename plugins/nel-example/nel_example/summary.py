"""A report: one line for each benchmark of a run, as Markdown."""

from __future__ import annotations

import json
from pathlib import Path


def write_summary(run_dir: Path) -> Path:
    """Write summary.md from the run's artifact files and return its path."""
    lines = ["| benchmark | metric | value |", "|---|---|---|"]
    for path in sorted(run_dir.glob("*/metrics.json")):
        metrics = json.loads(path.read_text(encoding="utf-8"))
        headline = metrics["headline"]
        value = "no score" if headline["value"] is None else f"{headline['value']:.3f}"
        lines.append(f"| {metrics['benchmark']} | {headline['metric']} | {value} |")
    file = run_dir / "summary.md"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
