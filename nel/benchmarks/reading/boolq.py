"""BoolQ as SuperGLUE has it: yes-or-no questions about a passage (arXiv 1905.10044)."""

from __future__ import annotations

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.byob.scorers import ranked_choice

REVISION = "3de24cf8022e94f4ee4b9d55a6f539891524d646"


@benchmark(
    name="boolq",
    description="BoolQ, 3,270 yes-or-no questions about a passage, ranked by log-likelihood",
    dataset=f"hf://aps/super_glue?config=boolq&split=validation&revision={REVISION}",
    prompt="{passage}\nQuestion: {question}?\nAnswer:",
    target_field="label",
    choices=("no", "yes"),
    target_delimiter=" ",
    endpoint_type="completions_logprob",
    fewshot_split="train",
    fewshot_sampler="seeded",
    card=Card(
        paper=(
            "BoolQ: Exploring the Surprising Difficulty of Natural Yes/No Questions, arXiv"
            " 1905.10044"
        ),
        licence="CC-BY-SA-3.0",
        citation="Clark, Lee, Chang, Kwiatkowski, Collins, Toutanova 2019, NAACL",
        metric="acc",
        homepage="https://github.com/google-research-datasets/boolean-questions",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def boolq(sample: ScorerInput) -> dict[str, object]:
    """Rank "no" and "yes"."""
    ranked = ranked_choice(sample)
    return {"acc": ranked["acc"], "extracted": ranked["extracted"]}
