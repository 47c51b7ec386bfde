"""IFEval: 541 prompts with instructions that a program can check (arXiv 2311.07911).

A prompt counts when all of its instructions are followed; ``inst_level_…/pooled`` is the share of
all instructions. The loose check also accepts a response that follows them without its first line,
its last line or its asterisks. Needs the extra ``ifeval``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nel.benchmarks.instructions.rules import instructions_of, numbers_followed
from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.errors import UndefinedMetric
from nel.metrics import Metric, metric
from nel.types import SampleScore

REVISION = "966cd89545d6b6acfd7638bc708b98261ca58e84"


def with_instructions(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``instructions``, each an id and its parameters.

    Raises:
        KeyError: A field is missing.
        ValueError: An instruction is unknown or lacks a parameter, or there is none.
    """
    return {**row, "instructions": instructions_of(row)}


@metric(name="pooled")
def pooled_share() -> Metric:
    """Give the share of all instructions that were followed: a prompt with three counts thrice."""

    def compute(scores: Sequence[SampleScore]) -> float:
        counts = [len((score.sample_metadata or {})["instructions"]) for score in scores]
        if not counts:
            raise UndefinedMetric("no prompt was scored")
        # A share times its number of instructions is how many of them were followed.
        n_followed = math.fsum(
            score.score.as_float() * n for score, n in zip(scores, counts, strict=True)
        )
        return n_followed / sum(counts)

    return compute


@benchmark(
    name="ifeval",
    description=(
        "IFEval, 541 prompts with instructions that a program can check, strictly and loosely"
    ),
    dataset=f"hf://google/IFEval?split=train&revision={REVISION}",
    prompt="{prompt}",
    target_field="instruction_id_list",
    id_field="key",
    prepare_row=with_instructions,
    requirements=("langdetect>=1.0.9",),
    card=Card(
        paper="Instruction-Following Evaluation for Large Language Models, arXiv 2311.07911",
        licence="Apache-2.0",
        citation="Zhou et al., 2023",
        metric="prompt_level_strict_acc",
        homepage="https://huggingface.co/datasets/google/IFEval",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(
    metrics={"inst_level_strict": [pooled_share()], "inst_level_loose": [pooled_share()]},
    in_process=True,
)
def ifeval(sample: ScorerInput) -> dict[str, Any]:
    """Check each instruction, strictly and loosely."""
    return numbers_followed(sample.response, sample.metadata["instructions"])
