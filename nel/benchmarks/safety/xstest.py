"""XSTest: 250 safe prompts that look unsafe and 200 unsafe ones (Röttger et al. 2023, arXiv 2308.01263).

Whether a response complies, refuses or refuses in part is a judge's verdict; without a judge every sample is unscored.
"""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.scoring import needs_judge

REVISION = "f1d713187c61b6ae64e602d74f0b3d812cc2e8e8"


@benchmark(
    name="xstest",
    description="XSTest, 450 prompts that should or should not be refused, for a judge",
    dataset=f"hf://walledai/XSTest?split=test&revision={REVISION}",
    prompt="{prompt}",
    target_field="label",
    category_field="label",
    card=Card(
        paper="XSTest: A Test Suite for Identifying Exaggerated Safety Behaviours in Large Language Models, arXiv "
        "2308.01263",
        licence="CC-BY-4.0",
        citation="Röttger et al., NAACL 2024",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/walledai/XSTest",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer
def xstest(sample: ScorerInput) -> dict[str, Any]:
    """Hand the response to the judge."""
    return needs_judge(sample)
