"""What models write when they fail costs every scorer linear time and is wrong, never an error."""

from __future__ import annotations

from typing import Any

import pytest

from nel.authoring.registry import find_benchmark
from nel.types import ScorerInput
from tests.support.tiers import diagonal

N = 100_000
TEXTS = {
    "line breaks": "\n" * N + "x",
    "answers": "Answer: " * (N // 8),
    "digits": "7" * N,
    "boxes": "\\boxed{" * (N // 7),
    "articles": "the a an " * (N // 9),
    "quotes": "\"'“”" * (N // 4),
    "numbers in a row": "1," * (N // 2),
    "surrogates and marks": "\ud800\u202e\u0000é" * 1_000,
}
TARGETS: dict[str, Any] = {
    "aime24": 70,
    "mgsm": 18,
    "math500": "\\frac12",
    "mmlu_generative": "B",
    "gpqa_diamond": 1,
    "triviaqa": ["Paris"],
    "nq_open": ["Paris"],
    "drop": [["16"], ["Smith", "Jones"]],
    "squad": ["Denver"],
    "squad_v2": ["Denver"],
    "bbh": "(B)",
}


@pytest.mark.timeout(250)
@pytest.mark.parametrize(("name", "text"), diagonal(sorted(TARGETS), sorted(TEXTS)))
def test_it_is_wrong(name: str, text: str) -> None:
    """No verdict raises, takes long, or counts such an answer as right."""
    metadata = {"choices": ["a", "b", "c", "d"]}
    found: Any = find_benchmark(name).scorer(ScorerInput(response=TEXTS[text], target=TARGETS[name], metadata=metadata))
    reward = found.get("correct", found.get("exact_match"))
    assert not reward
