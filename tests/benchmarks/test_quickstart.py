"""The answers of the quickstart benchmark, in forms that real models give them."""

from __future__ import annotations

import pytest

from nel.benchmarks.quickstart import quickstart
from nel.types import ScorerInput


@pytest.mark.parametrize(
    ("kind", "response", "target", "right"),
    [
        ("arithmetic", "Answer: 42 (6 × 7)", "42", True),
        ("arithmetic", "6 × 7 = 42\n\n**Answer:**\n42", "42", True),
        ("arithmetic", "Answer: 41 or 42", "42", False),
        ("choice", "Answer: (B)", "B", True),
        ("short", "Answer: Paris", "Paris", True),
        ("short", "Answer: Rome", "Paris", False),
    ],
)
def test_answers(kind: str, response: str, target: str, right: bool) -> None:
    """A number is that of the answer and not the last one of its line."""
    result = quickstart.scorer(ScorerInput(response=response, target=target, metadata={"kind": kind}))
    assert result["correct"] is right  # type: ignore[index]
