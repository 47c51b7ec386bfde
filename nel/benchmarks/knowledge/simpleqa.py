"""SimpleQA: 4,326 short questions of fact, each with one answer (arXiv 2411.04368).

Whether an answer is correct, incorrect or not attempted is a judge's verdict. The headline is the
share of correct answers; beside it stand the shares of the two other verdicts, the share of correct
ones among those attempted, and the harmonic mean of the first and the last, which the paper calls
F. Source of the formulas: the paper's section 2.3 and OpenAI's simple-evals.
"""

from __future__ import annotations

from collections.abc import Sequence

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.metrics import Metric, metric
from nel.scoring import needs_judge
from nel.types import SampleScore

FILE_SHA256 = "feee3f7e7db3617e94e8fcf1977b756ec420ef8568f4e0fcbbe0e92e9d5fc032"


def _counts(scores: Sequence[SampleScore]) -> tuple[float, float]:
    """Return how many answers are correct and how many were attempted."""
    verdicts = [score.score.metadata or {} for score in scores]
    # A failure of the model has no verdict, and is not an attempt.
    n_attempted = sum(1.0 - verdict.get("not_attempted", 1.0) for verdict in verdicts)
    return sum(verdict.get("correct", 0.0) for verdict in verdicts), n_attempted


@metric
def correct_given_attempted() -> Metric:
    """Give the share of correct answers among those attempted; if there are none, 0."""

    def share(scores: Sequence[SampleScore]) -> float:
        n_correct, n_attempted = _counts(scores)
        return n_correct / n_attempted if n_attempted else 0.0

    return share


@metric
def f_score() -> Metric:
    """Give the harmonic mean of two shares of correct answers: among all, and among attempted."""

    def mean(scores: Sequence[SampleScore]) -> float:
        # With a = correct / all and b = correct / attempted, 2ab / (a + b) comes to this.
        n_correct, n_attempted = _counts(scores)
        return 2 * n_correct / (len(scores) + n_attempted) if scores else 0.0

    return mean


@benchmark(
    name="simpleqa",
    description="SimpleQA, 4,326 short questions of fact, scored by a judge",
    dataset="hf://basicv8vc/SimpleQA?file=simple_qa_test_set.csv",
    prompt="{problem}",
    target_field="answer",
    card=Card(
        paper="Measuring short-form factuality in large language models, arXiv 2411.04368",
        licence="MIT",
        citation="Wei et al., 2024",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/basicv8vc/SimpleQA",
        revision=(
            f"not pinned; the publisher's simple_qa_test_set.csv has the SHA-256 {FILE_SHA256}"
        ),
        languages=("en",),
    ),
)
@scorer(metrics=[correct_given_attempted(), f_score()], asks_judge=True)
def simpleqa(sample: ScorerInput) -> dict[str, object]:
    """Let the judge say whether the answer is correct, incorrect or not attempted."""
    return needs_judge(sample, template="simpleqa", question=sample.metadata["problem"])
