"""HealthBench: 5,000 conversations on health, with physicians' criteria (arXiv 2505.08775).

The whole conversation is sent, system messages included, and shown to the judge, who says of each
criterion whether the response meets it. A response's score is the sum of the points it earns over
the sum of the positive ones; the official score is their mean, cut at 0 and 1
(``points/clipped_mean`` in metrics.json).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nel.byob import Card, ScorerInput, SeedResult, benchmark, scorer
from nel.metrics import Metric, metric
from nel.scoring import needs_judge
from nel.types import SampleScore

REVISION = "40ee1968852fc57f625934251ac22be47077a8fb"
FILE = "2025-05-07-06-14-12_oss_eval.jsonl"
_THEME = "theme:"


def conversation(row: dict[str, Any]) -> SeedResult:
    """Return a row's conversation, with its criteria as the target and its theme as the category.

    Raises:
        KeyError: A field is missing.
        ValueError: The conversation or the criteria are empty.
    """
    if not row["prompt"] or not row["rubrics"]:
        raise ValueError("it has no conversation, or no criteria")
    themes = [
        tag.removeprefix(_THEME) for tag in row.get("example_tags") or [] if tag.startswith(_THEME)
    ]
    return SeedResult(
        prompt="",
        messages=[{"role": turn["role"], "content": turn["content"]} for turn in row["prompt"]],
        expected_answer=row["rubrics"],
        metadata={"theme": themes[0] if themes else "none"},
    )


@metric
def clipped_mean() -> Metric:
    """Give the mean of the scores, cut at 0 and 1, as ``HealthBenchEval`` of simple-evals does."""

    def clip(scores: Sequence[SampleScore]) -> float:
        values = [score.score.as_float() for score in scores]
        # Of all together: a response that loses more points than it earns counts below 0 in it.
        return min(max(sum(values) / len(values), 0.0), 1.0)

    return clip


@benchmark(
    name="healthbench",
    description=(
        "HealthBench, 5,000 conversations on health with physicians' criteria, scored by a judge"
    ),
    dataset=f"hf://openai/healthbench?file={FILE}&revision={REVISION}",
    endpoint_type="chat",
    id_field="prompt_id",
    category_field="theme",
    seed_fn=conversation,
    card=Card(
        paper=(
            "HealthBench: Evaluating Large Language Models Towards Improved Human Health, arXiv"
            " 2505.08775"
        ),
        licence="MIT",
        citation="Arora et al., 2025",
        metric="points/clipped_mean",
        homepage="https://huggingface.co/datasets/openai/healthbench",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(metrics={"points": [clipped_mean()]}, asks_judge=True)
def healthbench(sample: ScorerInput) -> dict[str, object]:
    """Let the judge say of each of the physicians' criteria whether the response meets it."""
    return needs_judge(sample, template="rubric", reference="", rubric=sample.target)
