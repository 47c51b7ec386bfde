"""Capitals, answered in a word."""

from pathlib import Path

from nel import ScorerInput, benchmark, exact_match, scorer


@benchmark(
    name="exam",
    dataset=str(Path(__file__).with_name("exam.csv")),
    prompt="{question} Answer with one word.",
    target_field="answer",
)
@scorer
def score(sample: ScorerInput) -> dict[str, object]:
    """Return whether the answer is the capital."""
    return exact_match(sample)
