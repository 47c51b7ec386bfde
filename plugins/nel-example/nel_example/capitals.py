"""A benchmark of eight questions, with a breakdown by continent."""

from nel import ScorerInput, answer_line, benchmark, scorer


@benchmark(
    name="example-capitals",
    description="Eight capitals, by continent",
    dataset="pkg://nel_example/capitals.jsonl",
    prompt='What is the capital of {country}? End with a line "Answer: CITY".',
    target_field="capital",
    category_field="continent",
)
@scorer
def capitals(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the city on the answer line."""
    return answer_line(sample)
