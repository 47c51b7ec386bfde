"""MATH-500: 500 competition problems with an expression as answer (arXiv 2305.20050).

The answer in the last ``\\boxed{}`` is compared as mathematics, so ``\\frac12`` equals ``0.5``.
"""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.scoring import math_equal

REVISION = "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be"
PROMPT = """Solve this problem step by step. Put the final answer, and nothing else, into \\boxed{{}}.

{problem}"""


@benchmark(
    name="math500",
    description="MATH-500, 500 competition problems in seven subjects with an expression as answer",
    dataset=f"hf://HuggingFaceH4/MATH-500?split=test&revision={REVISION}",
    prompt=PROMPT,
    target_field="answer",
    id_field="unique_id",
    category_field="subject",
    card=Card(
        paper=(
            "Let's Verify Step by Step, arXiv 2305.20050; the problems: Measuring Mathematical"
            " Problem Solving With the MATH Dataset, arXiv 2103.03874"
        ),
        licence="MIT",
        citation="Lightman et al., 2023; Hendrycks et al., NeurIPS 2021",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/HuggingFaceH4/MATH-500",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def math500(sample: ScorerInput) -> dict[str, Any]:
    """Compare the final answer with the gold one as mathematics."""
    return math_equal(sample)
