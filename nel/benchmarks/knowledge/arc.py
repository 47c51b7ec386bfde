"""ARC, the AI2 reasoning challenge: science questions of US schools (arXiv 1803.05457)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.byob.scorers import ranked_choice

REVISION = "210d026faf9955653af8916fad021475a3f00453"
CARD = Card(
    paper=(
        "Think you have Solved Question Answering? Try ARC, the AI2 Reasoning Challenge, arXiv"
        " 1803.05457"
    ),
    licence="CC-BY-SA-4.0",
    citation="Clark, Cowhey, Etzioni, Khot, Sabharwal, Schoenick, Tafjord 2018",
    metric="acc",
    homepage="https://allenai.org/data/arc",
    revision=REVISION,
    languages=("en",),
)


def with_gold(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``gold``, the position of its ``answerKey``; some rows label their
    choices 1 to 4.

    Raises:
        ValueError: No choice has that label.
    """
    return {**row, "gold": list(row["choices"]["label"]).index(row["answerKey"])}


@benchmark(
    name="arc_easy",
    description="ARC-Easy, 2,376 science questions of US schools, choices ranked by log-likelihood",
    dataset=f"hf://allenai/ai2_arc?config=ARC-Easy&split=test&revision={REVISION}",
    prompt="Question: {question}\nAnswer:",
    target_field="gold",
    id_field="id",
    choices_field="choices.text",
    target_delimiter=" ",
    endpoint_type="completions_logprob",
    prepare_row=with_gold,
    fewshot_split="train",
    fewshot_sampler="seeded",
    card=CARD,
)
@scorer(in_process=True)
def arc_easy(sample: ScorerInput) -> dict[str, Any]:
    """Rank the choices; ``acc`` is the reward."""
    return ranked_choice(sample)


@benchmark(
    name="arc_challenge",
    description=(
        "ARC-Challenge, 1,172 harder science questions of US schools, choices ranked by"
        " log-likelihood"
    ),
    dataset=f"hf://allenai/ai2_arc?config=ARC-Challenge&split=test&revision={REVISION}",
    prompt="Question: {question}\nAnswer:",
    target_field="gold",
    id_field="id",
    choices_field="choices.text",
    target_delimiter=" ",
    endpoint_type="completions_logprob",
    prepare_row=with_gold,
    fewshot_split="train",
    fewshot_sampler="seeded",
    card=replace(CARD, metric="acc_norm"),
)
@scorer(in_process=True)
def arc_challenge(sample: ScorerInput) -> dict[str, Any]:
    """Rank the choices; ``acc_norm`` is the reward."""
    return ranked_choice(sample, headline="acc_norm")
