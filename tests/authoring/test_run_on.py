"""Base models go on with the prompt's next question: no benchmark or scorer reads the answer to that one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nel.benchmarks.knowledge.triviaqa import triviaqa
from nel.benchmarks.mathematics.gsm8k import gsm8k
from nel.benchmarks.reading.drop import drop
from nel.benchmarks.reading.squad import squad
from nel.scoring import answer_line, boolean_yesno, gsm8k_answer
from nel.types import Sample, ScorerInput

PROMPT = "Answer the question.\n\nQuestion: Who was first?\nAnswer:"


@pytest.mark.parametrize(
    ("score", "own", "target", "others", "key"),
    [
        (triviaqa.scorer, "Paris", ["Paris"], "Rome", "exact_match"),
        (squad.scorer, "Paris", ["Paris"], "Rome", "exact_match"),
        (drop.scorer, "Answer: 12", [["12"]], "9", "exact_match"),
        (boolean_yesno, "No", "no", "Yes", "correct"),
        (answer_line, "Answer: Paris", "Paris", "Rome", "correct"),
        (gsm8k.scorer, "The answer is 18.", "18", "9", "correct"),
        (gsm8k_answer, "The answer is 18.", "18", "9", "correct"),
    ],
)
@pytest.mark.parametrize(
    ("prompt", "further"),
    [
        (PROMPT, "\n\nQuestion: And then?\nAnswer: {}"),
        (PROMPT, "\n\nAnswer the question.\n\nQuestion: And then?\nAnswer: {}"),
    ],
)
def test_an_invented_next_question_is_not_read(
    score: Callable[[ScorerInput], Any], own: str, target: object, others: str, key: str, prompt: str, further: str
) -> None:
    """The answer before it counts, and the result says that more followed."""
    sample = Sample(id="1", input=prompt, target=target)  # type: ignore[arg-type]
    for response, goes_on in ((own, False), (own + further.format(others), True)):
        found = score(ScorerInput(response=response, target=target, sample=sample, metadata={"language": "en"}))
        assert (bool(found[key]), found["ran_on"]) == (True, goes_on), found
