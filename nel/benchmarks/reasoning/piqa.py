"""PIQA: which of two ways reaches an everyday goal (Bisk et al. 2020, arXiv 1911.11641)."""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.byob.scorers import ranked_choice

REVISION = "142f6d7367fd9877f0fb3b5734ea6a545f54cdd1"


def with_solutions(row: dict[str, object]) -> dict[str, object]:
    """Return the row with ``solutions``, its two choices."""
    return {**row, "solutions": [row["sol1"], row["sol2"]]}


@benchmark(
    name="piqa",
    description="PIQA, 1,838 everyday goals and two ways to reach each, ranked by log-likelihood",
    dataset=f"hf://baber/piqa?split=validation&revision={REVISION}",
    prompt="Question: {goal}\nAnswer:",
    target_field="label",
    choices_field="solutions",
    target_delimiter=" ",
    endpoint_type="completions_logprob",
    prepare_row=with_solutions,
    fewshot_split="train",
    fewshot_sampler="seeded",
    card=Card(
        paper="PIQA: Reasoning about Physical Commonsense in Natural Language, arXiv 1911.11641",
        licence="AFL-3.0",
        citation="Bisk, Zellers, Le Bras, Gao, Choi 2020, AAAI",
        metric="acc",
        homepage="https://yonatanbisk.com/piqa/",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def piqa(sample: ScorerInput) -> dict[str, Any]:
    """Rank the two solutions; ``acc`` is the reward."""
    return ranked_choice(sample)
