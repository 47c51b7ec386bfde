"""Where the verdict recorded with an output and nel's verdict differ, and why.

`official_differences.jsonl` has a line for each file, task, pair of verdicts and reason, with its rows. `errs` names
the verdict that is wrong by what the output states. Differences were read by eye. The rule recorded with GSM8K takes
the first number after "the answer" and compares texts; that of BIG-Bench Hard takes what follows "the answer is", or
the whole output, and none of its 4,356 verdicts differs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from nel.benchmarks.mathematics.gsm8k import gsm8k
from nel.benchmarks.reasoning.bbh import bbh
from nel.types import ScorerInput
from tests.labelled_outputs import FOLDER, official_verdict, response_of, rows, task_of

DIFFERENCES = FOLDER / "official_differences.jsonl"
SCORED = {"gsm8k_outputs_text_davinci_002": gsm8k, "bbh_outputs_code_davinci_002": bbh}
"""The benchmarks whose recorded outputs are compared; on the others nel has the official rule itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One output on which the recorded verdict and nel's differed when it was read."""

    file: str
    row: int
    task: str
    official: bool
    """The recorded verdict."""
    nel: bool
    """Nel's verdict."""
    errs: Literal["official", "nel"]
    """Whose verdict is wrong."""
    reason: str
    """What misled it."""


def official_differences() -> list[Difference]:
    """Return the listed differences, one for each output."""
    listed = []
    for line in DIFFERENCES.read_text(encoding="utf-8").splitlines():
        group = json.loads(line)
        listed += [Difference(row=row, **group) for row in group.pop("rows")]
    return listed


def present_differences() -> set[tuple[str, int, bool]]:
    """Return file, row and nel's verdict of each output on which nel differs from the recorded verdict now.

    Raises:
        FileNotFoundError: ../shared/data is not there.
    """
    differing = set()
    for file, benchmark in SCORED.items():
        for index, row in enumerate(rows(file)):
            target = row.get("target", row.get("answer"))
            result = benchmark.scorer(ScorerInput(response=response_of(file, row), target=target))
            correct = bool(result["correct"])  # type: ignore[index]
            if correct != official_verdict(row):
                differing.add((file, index, correct))
    return differing


def task_of_row(file: str, row: int) -> str:
    return task_of(file, rows(file)[row])
