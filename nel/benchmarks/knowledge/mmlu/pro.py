"""MMLU-Pro: multiple choice with up to ten options in 14 subjects (arXiv 2406.01574).

The default rule is the official one in linear time, since published numbers are read by it. Its
published accuracy counts a random guess for each response without an answer; here such a response
is `no_answer` and counts 0, and ``guess_corrected`` states the expectation.
"""

from __future__ import annotations

import re
from typing import Literal

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.letters import labels_for, read_labels
from nel.reading.own import own_answer
from nel.reading.types import OFFICIAL_RULE, Form, Reading, Value

REVISION = "527feea0afed1de15a8c115abf7be4c912123315"
_ANSWER_IS = re.compile(r"answer is \(?([A-J])\)?")
# A look-ahead, so that of "Answer: Answer: B" both are found.
_ANSWER_COLON = re.compile(r"(?=[aA]nswer:\s*([A-J]))")
_LONE_LETTER = re.compile(r"\b[A-J]\b")

PROMPT = """The following is a multiple choice question about {category}. Think step by step and then finish your \
answer with "the answer is (X)" where X is the correct letter choice.

Question:
{question}
Options:
{choices}

Answer: Let's think step by step."""


def extract(response: str) -> str | None:
    """Return the letter a response gives as its answer, by the official rules, or None.

    The first ``answer is (X)``; else, on the first line that has an ``Answer: X``, the last one;
    else the last lone letter A to J.
    """
    position = _letter_position(response)
    return None if position is None else response[position]


def read_official(sample: ScorerInput) -> Reading:
    """Return the letter that `extract` returns, with its position."""
    position = _letter_position(sample.response)
    if position is None:
        return Reading()
    return Reading().take(Value(sample.response[position], position, position + 1), Form.OFFICIAL)


def _letter_position(response: str) -> int | None:
    match = _ANSWER_IS.search(response)
    if match:
        return match.start(1)
    # As the official ``.*[aA]nswer:\s*([A-J])``, greedy and with a dot that ends at a line break.
    position, line_end = None, len(response)
    for colon in _ANSWER_COLON.finditer(response):
        if colon.start() > line_end:
            break
        if position is None:
            newline = response.find("\n", colon.start())
            line_end = newline if newline >= 0 else len(response)
        position = colon.start(1)
    if position is not None:
        return position
    letter = None
    for letter in _LONE_LETTER.finditer(response):  # noqa: B007 - the last one counts
        pass
    return None if letter is None else letter.start()


@benchmark(
    name="mmlu_pro",
    description="MMLU-Pro, 12,032 multiple-choice questions with up to ten options in 14 subjects",
    dataset=f"hf://TIGER-Lab/MMLU-Pro?split=test&revision={REVISION}",
    prompt=PROMPT,
    target_field="answer",
    id_field="question_id",
    choices_field="options",
    category_field="category",
    card=Card(
        paper=(
            "MMLU-Pro: A More Robust and Challenging Multi-Task Language Understanding Benchmark,"
            " arXiv 2406.01574"
        ),
        licence="MIT",
        citation="Wang et al., NeurIPS 2024",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/TIGER-Lab/MMLU-Pro",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def mmlu_pro(
    sample: ScorerInput, *, rule: Literal["general", "official"] = "official"
) -> dict[str, object]:
    """Compare the letter of the response with the gold one; where it has none, a guess counts."""
    options = sample.metadata["options"]
    details: dict[str, bool] = {}
    if rule == OFFICIAL_RULE:
        extracted = extract(sample.response)
    else:
        response, details = own_answer(sample)
        extracted = read_labels(response, labels_for(len(options)), options).value
    correct = extracted is not None and extracted == sample.target
    guess = 1.0 / len(options)
    return {
        "correct": correct,
        "parsed": extracted is not None,
        "guess_corrected": guess if extracted is None else float(correct),
        "extracted": extracted,
        **details,
    }
