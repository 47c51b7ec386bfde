"""HumanEval: 164 Python functions to complete, judged by their tests (arXiv 2107.03374)."""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.scoring import code_sandbox

REVISION = "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544"
PROMPT = """Complete this Python function. Answer with the whole function, imports included, in one Python code block.

```python
{prompt}
```"""


def with_tests(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with its ``reference``, and with ``_prompt`` and ``_test`` for the sandbox.

    Raises:
        KeyError: A field is missing.
    """
    # The prompt is an unfinished function: head, docstring, and no body. The sandbox gets it as it
    # is, the model without the line breaks around it.
    reference = row["prompt"] + row["canonical_solution"]
    signature = row["prompt"].strip("\n")
    return {
        **row,
        "prompt": signature,
        "_prompt": row["prompt"],
        "_test": row["test"],
        "reference": reference,
    }


@benchmark(
    name="humaneval",
    description="HumanEval, 164 Python functions to complete, judged by tests in the sandbox",
    dataset=f"hf://openai/openai_humaneval?split=test&revision={REVISION}",
    prompt=PROMPT,
    id_field="task_id",
    target_field="reference",
    prepare_row=with_tests,
    sandbox="python",
    reducers=("pass_at_k",),
    card=Card(
        paper="Evaluating Large Language Models Trained on Code, arXiv 2107.03374",
        licence="MIT",
        citation="Chen et al., 2021",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/openai/openai_humaneval",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer
def humaneval(sample: ScorerInput) -> dict[str, object]:
    """Run the tests against the function, each in a process of its own; pass@k over repeats."""
    return dict(code_sandbox(sample))
