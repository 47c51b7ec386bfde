"""HellaSwag: which of four sentences continues a scene (Zellers et al. 2019, arXiv 1905.07830)."""

from __future__ import annotations

import re
from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.byob.scorers import ranked_choice

REVISION = "218ec52e09a7e7462a5400043bb9a69a41d06b76"
_BRACKETED = re.compile(r"\[.*?\]")


def clean(text: str) -> str:
    """Return a text of WikiHow without its markup, as lm-evaluation-harness does it.

    Two spaces become one a single time, so that three become two.

    >>> clean(" How to bake [title] Mix [substeps] well.  ")
    'How to bake. Mix well.'
    """
    text = _BRACKETED.sub("", text.strip().replace(" [title]", ". "))
    return text.replace("  ", " ")


def with_query(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``query`` (activity and context), ``options`` (endings) and ``gold``."""
    # The second part is the beginning of a sentence that the endings finish.
    context = f"{row['ctx_a']} {row['ctx_b'].capitalize()}"
    return {
        **row,
        "query": clean(f"{row['activity_label']}: {context}"),
        "options": [clean(ending) for ending in row["endings"]],
        "gold": int(row["label"]),
    }


@benchmark(
    name="hellaswag",
    description="HellaSwag, 10,042 scenes and four ways to go on, ranked by log-likelihood",
    dataset=f"hf://Rowan/hellaswag?split=validation&revision={REVISION}",
    prompt="{query}",
    target_field="gold",
    choices_field="options",
    target_delimiter=" ",
    endpoint_type="completions_logprob",
    prepare_row=with_query,
    fewshot_split="train",
    fewshot_sampler="seeded",
    card=Card(
        paper="HellaSwag: Can a Machine Really Finish Your Sentence? arXiv 1905.07830",
        licence="MIT",
        citation="Zellers, Holtzman, Bisk, Farhadi, Choi 2019, ACL",
        metric="acc_norm",
        homepage="https://rowanzellers.com/hellaswag",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def hellaswag(sample: ScorerInput) -> dict[str, Any]:
    """Rank the endings; ``acc_norm`` is the reward."""
    return ranked_choice(sample, headline="acc_norm")
