"""MMLU: four choices in 57 subjects, the letters ranked by log-likelihood (arXiv 2009.03300).

The mean over all questions is lm-evaluation-harness' group score: subjects weigh by their sizes.
"""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.byob.scorers import ranked_choice

REVISION = "c30699e8356da336a370243923dbaf21066bb9fe"
LETTERS = ("A", "B", "C", "D")


def with_query(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``query``, question and lettered options, and ``topic``, the subject."""
    options = [
        f"{letter}. {option}" for letter, option in zip(LETTERS, row["choices"], strict=True)
    ]
    query = "\n".join([row["question"].strip(), *options, "Answer:"])
    return {**row, "query": query, "topic": row["subject"].replace("_", " ")}


@benchmark(
    name="mmlu",
    description=(
        "MMLU, 14,042 questions with four choices in 57 subjects, letters ranked by log-likelihood"
    ),
    dataset=f"hf://cais/mmlu?config=all&split=test&revision={REVISION}",
    preamble="The following are multiple choice questions (with answers) about {topic}.\n\n",
    prompt="{query}",
    target_field="answer",
    choices=LETTERS,
    target_delimiter=" ",
    endpoint_type="completions_logprob",
    category_field="subject",
    prepare_row=with_query,
    fewshot_split="dev",
    fewshot_match_field="subject",
    card=Card(
        paper="Measuring Massive Multitask Language Understanding, arXiv 2009.03300",
        licence="MIT",
        citation="Hendrycks, Burns, Basart, Zou, Mazeika, Song, Steinhardt 2021, ICLR",
        metric="acc",
        homepage="https://github.com/hendrycks/test",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def mmlu(sample: ScorerInput) -> dict[str, object]:
    """Rank the letters."""
    ranked = ranked_choice(sample)
    return {"acc": ranked["acc"], "extracted": ranked["extracted"]}
