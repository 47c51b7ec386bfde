"""WinoGrande: which of two names a blank stands for (Sakaguchi et al. 2019, arXiv 1907.10641).

The evaluation is partial: each option is put into the blank, and the rest of the sentence is what
is ranked.
"""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.byob.scorers import ranked_choice

REVISION = "01e74176c63542e6b0bcb004dcdea22d94fb67b5"


def around_the_blank(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``before`` and ``rest`` around its first ``_``, ``options`` and ``gold``.

    Raises:
        ValueError: The sentence has no blank, or the answer is neither 1 nor 2.
    """
    blank = row["sentence"].index("_")
    return {
        **row,
        "before": row["sentence"][:blank],
        "rest": row["sentence"][blank + 1 :].strip(),
        "options": [row["option1"], row["option2"]],
        "gold": ("1", "2").index(str(row["answer"])),
    }


@benchmark(
    name="winogrande",
    description=(
        "WinoGrande XL, 1,267 sentences with a blank, both ways to fill it ranked by log-likelihood"
    ),
    dataset=f"hf://allenai/winogrande?config=winogrande_xl&split=validation&revision={REVISION}",
    prompt="{before}{choice}",
    continuation="{rest}",
    target_field="gold",
    choices_field="options",
    target_delimiter=" ",
    endpoint_type="completions_logprob",
    prepare_row=around_the_blank,
    fewshot_split="train",
    fewshot_sampler="seeded",
    card=Card(
        paper="WinoGrande: An Adversarial Winograd Schema Challenge at Scale, arXiv 1907.10641",
        licence="CC-BY",
        citation="Sakaguchi, Le Bras, Bhagavatula, Choi 2020, AAAI",
        metric="acc",
        homepage="https://winogrande.allenai.org",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def winogrande(sample: ScorerInput) -> dict[str, object]:
    """Rank both sentences by what follows the blank, which has one length: no ``acc_norm``."""
    ranked = ranked_choice(sample)
    return {"acc": ranked["acc"], "extracted": ranked["extracted"]}
