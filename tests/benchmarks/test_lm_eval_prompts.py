"""Few-shot prompts equal those of lm-evaluation-harness letter for letter; its own are in lm_eval_prompts.json.

They were made by three tasks on the rows of that file: multiple choice with a description, multiple inputs as in
winogrande (a context for each option, one continuation), and generation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot_loading import bind_examples
from nel.byob import ScorerInput, benchmark, scorer
from nel.engine.asking.loglikelihood import _pairs

GOLDEN = json.loads((Path(__file__).parent / "lm_eval_prompts.json").read_text(encoding="utf-8"))


def bench(**options: Any) -> Benchmark:
    given = {"name": "b", "dataset": "unused.jsonl", "num_fewshot": 3, "fewshot_dataset": GOLDEN["train"], **options}

    @benchmark(**given, target_delimiter=" ")
    @scorer
    def b(sample: ScorerInput) -> dict:
        return {"correct": True}

    return bind_examples(b)[0]


def ranked(made: Benchmark) -> list[str]:
    """Return the whole text of each request that ranks a choice."""
    samples = [made.sample(row, sample_id="1") for row in GOLDEN["test"]]
    return [
        context + continuation
        for sample in samples
        for context, continuation in _pairs(sample, str(sample.input), made.target_delimiter)
    ]


def test_multiple_choice() -> None:
    """Description, examples with their gold choices, question, and each choice after the delimiter."""
    made = bench(
        prompt="Question: {q}\nAnswer:",
        preamble="Questions about law.\n\n",
        choices_field="choices",
        target_field="gold",
        endpoint_type="completions_logprob",
    )
    assert ranked(made) == GOLDEN["multiple_choice"]


def test_multiple_inputs() -> None:
    """Examples with their gold contexts, and each context with the continuation that all share."""
    made = bench(
        prompt="{pre}{choice}",
        choices_field="opts",
        continuation="{post}",
        target_field="g2",
        endpoint_type="completions_logprob",
    )
    assert ranked(made) == GOLDEN["multiple_inputs"]


def test_generation() -> None:
    """Examples with their whole answers, and the question."""
    made = bench(prompt="Question: {q}\nAnswer:", target_field="ans")
    assert [made.sample(row, sample_id="1").input for row in GOLDEN["test"]] == GOLDEN["generate_until"]
