"""General knowledge in several languages, with the score of each language and of each field beside the headline.

A key of the scorer's result that only some samples have is averaged over those, so `correct_de` is the score in German.
"""

from nel import ScorerInput, benchmark, scorer
from nel.byob.scorers import mcq_letter_extract

PROMPT = """\
{question}
A) {option_a}
B) {option_b}
C) {option_c}
D) {option_d}

Answer: """


def with_choices(row: dict) -> dict:
    """Return the row with its options as a list, which is where the scorer looks for their texts."""
    return {**row, "choices": [row[f"option_{letter}"] for letter in "abcd"]}


@benchmark(
    name="multilingual",
    dataset="multilingual.jsonl",
    prompt=PROMPT,
    system_prompt="Reply with the letter of the right option alone.",
    target_field="answer",
    id_field="sample_id",
    category_field="language",
    prepare_row=with_choices,
)
@scorer
def multilingual(sample: ScorerInput) -> dict:
    """Multiple choice in several languages, by language and by field."""
    verdict = mcq_letter_extract(sample)
    parts = (sample.metadata["language"], sample.metadata["subject_category"])
    return {**verdict, **{f"correct_{part}": verdict["correct"] for part in parts}}
