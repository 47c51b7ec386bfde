"""Word problems with a number as answer, asked step by step and scored as GSM8K is."""

from nel import ScorerInput, benchmark, scorer
from nel.byob.scorers import gsm8k_answer


@benchmark(
    name="math-reasoning",
    dataset="math_reasoning.jsonl",
    prompt='Solve step by step.\n\nProblem: {problem}\n\nEnd with a line "#### NUMBER".',
    target_field="solution",
    category_field="topic",
)
@scorer
def math_reasoning(sample: ScorerInput) -> dict:
    """Word problems: the number behind ####, in a box, or the last one."""
    return gsm8k_answer(sample)
