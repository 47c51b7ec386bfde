"""HealthBench: 5,000 conversations on health, each with physicians' criteria (Arora et al. 2025, arXiv 2505.08775).

The whole conversation is sent, system messages included. Whether a response meets each criterion is a judge's verdict;
the score is the sum of the points it earns over the sum of the positive ones. Without a judge every sample is unscored.
"""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, SeedResult, benchmark, scorer
from nel.scoring import needs_judge

REVISION = "40ee1968852fc57f625934251ac22be47077a8fb"
FILE = "2025-05-07-06-14-12_oss_eval.jsonl"
_THEME = "theme:"


def conversation(row: dict[str, Any]) -> SeedResult:
    """Return the conversation of a row, with its criteria as what is expected and its theme for the breakdown.

    Raises:
        KeyError: A field is missing.
        ValueError: The conversation or the criteria are empty.
    """
    if not row["prompt"] or not row["rubrics"]:
        raise ValueError("it has no conversation, or no criteria")
    themes = [tag.removeprefix(_THEME) for tag in row.get("example_tags") or [] if tag.startswith(_THEME)]
    return SeedResult(
        prompt="",
        messages=[{"role": turn["role"], "content": turn["content"]} for turn in row["prompt"]],
        expected_answer=row["rubrics"],
        metadata={"theme": themes[0] if themes else "none"},
    )


@benchmark(
    name="healthbench",
    description="HealthBench, 5,000 conversations on health with physicians' criteria, for a judge",
    dataset=f"hf://openai/healthbench?file={FILE}&revision={REVISION}",
    endpoint_type="chat",
    id_field="prompt_id",
    category_field="theme",
    seed_fn=conversation,
    card=Card(
        paper="HealthBench: Evaluating Large Language Models Towards Improved Human Health, arXiv 2505.08775",
        licence="MIT",
        citation="Arora et al., 2025",
        metric="score",
        homepage="https://huggingface.co/datasets/openai/healthbench",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer
def healthbench(sample: ScorerInput) -> dict[str, Any]:
    """Hand the response to the judge."""
    return needs_judge(sample)
