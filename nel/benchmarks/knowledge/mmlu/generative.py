"""MMLU: multiple choice in 57 subjects, here generated: the model reasons and names a letter
(Hendrycks et al. 2020).

Its numbers are not comparable with those of the log-likelihood form. ``mmlu_generative_offline``
reads the same test rows from a file of nel, which needs no hub; it has no examples to show
(``--num-fewshot``). Some questions occur more than once, so a text cannot be an id.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.scoring import mcq_letter_extract

REVISION = "c30699e8356da336a370243923dbaf21066bb9fe"
_ROWS: Final = "pkg://nel/benchmarks/data/mmlu.jsonl.gz"
PROMPT = """The following is a multiple-choice question about {subject_name}. Think step by step, then finish with a \
line of the form "Answer: X", where X is one of {letters}.

{question}

{choices}"""

_CARD = Card(
    paper="Measuring Massive Multitask Language Understanding, arXiv 2009.03300",
    licence="MIT",
    citation="Hendrycks et al., ICLR 2021",
    metric="accuracy",
    homepage="https://huggingface.co/datasets/cais/mmlu",
    revision=REVISION,
    languages=("en",),
)


def with_subject(row: dict[str, object]) -> dict[str, object]:
    """Return the row with ``subject_name``, the subject in words."""
    return {**row, "subject_name": str(row["subject"]).replace("_", " ")}


@benchmark(
    name="mmlu_generative",
    description="MMLU, 14,042 multiple-choice questions in 57 subjects, answered in words",
    dataset=f"hf://cais/mmlu?config=all&split=test&revision={REVISION}",
    prompt=PROMPT,
    target_field="answer",
    target_delimiter="\n\nAnswer: ",
    choices_field="choices",
    category_field="subject",
    prepare_row=with_subject,
    fewshot_split="dev",
    fewshot_match_field="subject",
    card=_CARD,
)
@scorer(in_process=True)
def mmlu_generative(sample: ScorerInput) -> dict[str, Any]:
    """Compare the letter that the response gives with the gold one."""
    return mcq_letter_extract(sample)


mmlu_generative_offline = replace(
    mmlu_generative,
    name="mmlu_generative_offline",
    description="MMLU as mmlu_generative, its rows from nel itself instead of the hub",
    dataset=_ROWS,
)
