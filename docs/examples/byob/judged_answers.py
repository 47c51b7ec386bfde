"""Open questions: one judge's grade for the facts, another question to it about the style."""

from nel import ScorerInput, benchmark, scorer
from nel.byob.judge import judge_score


@benchmark(
    name="judged-answers",
    description="Why-questions, judged for facts and for clarity",
    dataset="judged_answers.jsonl",
    prompt="{question}\nAnswer in one or two sentences.",
    target_field="answer",
    category_field="topic",
)
@scorer(asks_judge=True)
def judged_answers(sample: ScorerInput) -> dict:
    """Half of the credit goes to an answer that is partly right; clarity is a number beside it."""
    facts = judge_score(sample, template="binary_qa_partial", criteria="The cause must be named")
    clarity = judge_score(sample, template="likert_5", criteria="Clear to a child of twelve")
    return {
        "correct": facts["judge_score"],
        "clarity": clarity["judge_score"],
        "grade": facts["judge_grade"],
    }
