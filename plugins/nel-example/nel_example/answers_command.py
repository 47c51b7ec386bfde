"""A command: how many answers of a run got a reward, by benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def count_answers(
    run: Annotated[Path, typer.Argument(help="The directory of a finished run.")],
) -> None:
    """Count the answers of a run that got a reward."""
    for path in sorted(run.glob("*/results.jsonl")):
        rewards = [
            json.loads(line)["reward"] for line in path.read_text(encoding="utf-8").splitlines()
        ]
        typer.echo(
            f"{path.parent.name}: {sum(bool(reward) for reward in rewards)} of {len(rewards)}"
        )
