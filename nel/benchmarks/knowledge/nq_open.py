"""Natural Questions, open: 3,610 questions from web searches, no passage (arXiv 1906.00300).

The official rule is SQuAD's exact match against any of the accepted answers.
"""

from __future__ import annotations

from nel.benchmarks.short_answers import forms_of, same_span
from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.own import own_answer

REVISION = "5dd9790a83002ad084ddeb7c420dc716852c6f28"
PROMPT = """Answer this question in a few words. Give the answer alone, not a sentence.

Q: {question}?
A:"""


@benchmark(
    name="nq_open",
    description="Natural Questions without passages, 3,610 questions with short answers",
    dataset=f"hf://google-research-datasets/nq_open?split=validation&revision={REVISION}",
    prompt=PROMPT,
    target_field="answer",
    fewshot_split="train",
    card=Card(
        paper=(
            "Latent Retrieval for Weakly Supervised Open Domain Question Answering, arXiv"
            " 1906.00300; Natural Questions: A Benchmark for Question Answering Research, TACL 2019"
        ),
        licence="CC-BY-SA-3.0",
        citation="Lee et al., ACL 2019; Kwiatkowski et al., TACL 2019",
        metric="exact_match",
        homepage="https://huggingface.co/datasets/google-research-datasets/nq_open",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def nq_open(sample: ScorerInput) -> dict[str, object]:
    """Compare the answer with each accepted one, by SQuAD's exact match."""
    response, ran_on = own_answer(sample)
    forms = forms_of(response)
    matches = [form for form in forms if same_span(form, sample.target)]
    # The form that is right, else the answer as it was written, else none.
    answer = (*matches, *forms, None)[0]
    return {
        "exact_match": bool(matches),
        "parsed": answer is not None,
        "extracted": answer,
        **ran_on,
    }
