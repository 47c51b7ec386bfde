"""Medical multiple choice from the hub: four options in columns of their own, the right one given by its position.

medical_choice.jsonl has rows of the same shape, written for nel, to try it without the hub:

    nel eval run --bench medical_choice.py --dataset medical_choice.jsonl ...
"""

from nel import ScorerInput, benchmark, scorer
from nel.byob.scorers import mcq_letter_extract


@benchmark(
    name="medical-choice",
    dataset="hf://openlifescienceai/medmcqa?split=validation",
    prompt=(
        '{question}\nA) {a}\nB) {b}\nC) {c}\nD) {d}\n\nEnd with a line "Answer: X", where X is one of A, B, C, D.'
    ),
    system_prompt="You are a physician who sits an entrance examination.",
    target_field="cop",
    field_mapping={"opa": "a", "opb": "b", "opc": "c", "opd": "d"},
    category_field="subject_name",
)
@scorer
def medical_choice(sample: ScorerInput) -> dict:
    """Medical multiple choice with four options, by subject."""
    return mcq_letter_extract(sample)
