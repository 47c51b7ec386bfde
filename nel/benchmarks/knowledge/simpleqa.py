"""SimpleQA: 4,326 short questions of fact, each with one answer (Wei et al. 2024, arXiv 2411.04368).

Whether an answer is correct, incorrect or not attempted is a judge's verdict; without a judge every sample is unscored.
"""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.scoring import needs_judge

FILE_SHA256 = "feee3f7e7db3617e94e8fcf1977b756ec420ef8568f4e0fcbbe0e92e9d5fc032"


@benchmark(
    name="simpleqa",
    description="SimpleQA, 4,326 short questions of fact, for a judge",
    dataset="hf://basicv8vc/SimpleQA?file=simple_qa_test_set.csv",
    prompt="{problem}",
    target_field="answer",
    card=Card(
        paper="Measuring short-form factuality in large language models, arXiv 2411.04368",
        licence="MIT",
        citation="Wei et al., 2024",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/basicv8vc/SimpleQA",
        revision=f"not pinned; the publisher's simple_qa_test_set.csv has the SHA-256 {FILE_SHA256}",
        languages=("en",),
    ),
)
@scorer
def simpleqa(sample: ScorerInput) -> dict[str, Any]:
    """Hand the answer to the judge."""
    return needs_judge(sample)
