"""The built-in benchmarks agree with the official verdicts on real model outputs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from nel.benchmarks.knowledge.mmlu import pro as mmlu_pro
from nel.benchmarks.mathematics import gsm8k
from nel.benchmarks.reasoning import bbh
from nel.types import ScorerInput
from tests.support.runs import SHARED

pytestmark = pytest.mark.shared_data


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(SHARED / name, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def test_gsm8k_agrees_on_every_sample() -> None:
    """286 of 1,319 are right, and no verdict differs from the official one."""
    verdicts = []
    for row in _rows("gsm8k_outputs_6b_finetuning.jsonl.gz"):
        gold = gsm8k.with_gold_number(row)["gold"]
        result = gsm8k.gsm8k.scorer(ScorerInput(response=row["model_output"], target=gold))
        verdicts.append((bool(result["correct"]), row["is_correct"]))  # type: ignore[index]
    assert (sum(ours for ours, _ in verdicts), len(verdicts)) == (286, 1319)
    assert [pair for pair in verdicts if pair[0] != pair[1]] == []


def test_gsm8k_finds_every_gold_number() -> None:
    """Each answer of the dataset proper ends in a number after ####."""
    golds = [gsm8k.with_gold_number(row)["gold"] for row in _rows("gsm8k_test.jsonl.gz")]
    assert len(golds) == 1319


def test_bbh_agrees_on_every_sample() -> None:
    """2,737 of 4,356 are right by the authors' rule, and no verdict differs from theirs."""
    verdicts = []
    for row in _rows("bbh_outputs_code_davinci_002.jsonl.gz"):
        sample = ScorerInput(response=row["model_output"], target=row["target"])
        verdicts.append((bool(bbh.bbh.scorer(sample, rule="official")["correct"]), row["is_correct"]))  # type: ignore[index]
    assert (sum(ours for ours, _ in verdicts), len(verdicts)) == (2737, 4356)
    assert [pair for pair in verdicts if pair[0] != pair[1]] == []


def test_mmlu_pro_extracts_what_the_official_script_extracts() -> None:
    """Every output with an answer gives the recorded letter; 694 have none."""
    found = [(mmlu_pro.extract(row["generated_text"]), row) for row in _rows("mmlu_pro_outputs_llama31_8b.jsonl.gz")]
    assert sum(letter is None for letter, _ in found) == 694
    assert [row["question_id"] for letter, row in found if letter is not None and letter != row["pred"]] == []
    assert sum(letter == row["answer"] for letter, row in found) / len(found) == pytest.approx(0.435838, abs=5e-7)


def test_mmlu_pro_extraction_is_linear() -> None:
    """Long lines without an answer cost no quadratic time (the official patterns would take minutes)."""
    assert mmlu_pro.extract("x answer: y " * 50_000) is None
    assert mmlu_pro.extract("Answer: " + "A Answer: " * 50_000 + "B") == "B"
