"""The built-in ranked benchmarks with the first examples instead of drawn ones, and GSM8K as the harness asks.

lm-evaluation-harness draws its few-shot examples from one stream of random numbers, which nel does not imitate; its
``first_n`` is nel's ``first``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from nel.authoring.benchmark import Benchmark
from nel.benchmarks.knowledge import arc
from nel.benchmarks.knowledge.mmlu import ranked as mmlu
from nel.benchmarks.knowledge.truthfulqa import multiple_choice as truthfulqa
from nel.benchmarks.reading import boolq
from nel.benchmarks.reasoning import hellaswag as hellaswag_module
from nel.benchmarks.reasoning import piqa, winogrande
from nel.byob import ScorerInput, benchmark, scorer

_STRICT = re.compile(r"#### (\-?[0-9\.\,]+)")
_FLEXIBLE = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
_IGNORED = [re.compile(text) for text in (",", r"\$", r"(?s).*#### ", r"\.$")]


def _first(one: Benchmark) -> Benchmark:
    return replace(one, fewshot=replace(one.fewshot, sampler="first"))


arc_easy = _first(arc.arc_easy)
arc_challenge = _first(arc.arc_challenge)
hellaswag = _first(hellaswag_module.hellaswag)
boolq_ = _first(boolq.boolq)
piqa_ = _first(piqa.piqa)
winogrande_ = _first(winogrande.winogrande)
mmlu_ = _first(mmlu.mmlu)
truthfulqa_mc1 = truthfulqa.truthfulqa_mc1
truthfulqa_mc2 = truthfulqa.truthfulqa_mc2


def _plain(text: str) -> str:
    for pattern in _IGNORED:
        text = pattern.sub("", text)
    return text.lower()


@benchmark(
    name="gsm8k",
    dataset="data.jsonl",
    prompt="Question: {question}\nAnswer:",
    target_field="answer",
    endpoint_type="chat",
    fewshot_as_turns=True,
)
@scorer
def gsm8k(sample: ScorerInput) -> dict[str, Any]:
    """Compare what both filters of the harness find, by its normal form."""
    strict = [found.strip() for found in _STRICT.findall(sample.response)] or ["[invalid]"]
    loose = [next(group for group in found if group) for found in _FLEXIBLE.findall(sample.response)] or ["[invalid]"]
    gold = _plain(str(sample.target))
    return {
        "strict-match": _plain(strict[0]) == gold,
        "flexible-extract": _plain(loose[-1].strip()) == gold,
    }
