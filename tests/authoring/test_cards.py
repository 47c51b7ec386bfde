"""Every built-in benchmark says where it comes from, and pins the data it reads."""

from __future__ import annotations

import re

import pytest

from nel import plugins
from nel.authoring.registry import find_benchmark

BUILT_IN = sorted(ref.name for ref in plugins.discover("benchmarks") if ref.distribution == "nel")


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_has_a_card(name: str) -> None:
    """Licence, citation, official metric and revision are stated; what the hub's address pins is what the card says."""
    found = find_benchmark(name)
    assert found.card is not None
    for field in ("paper", "licence", "citation", "metric", "revision"):
        assert getattr(found.card, field), field
    if isinstance(found.dataset, str) and "revision=" in found.dataset:
        assert found.dataset.endswith(f"revision={found.card.revision}")
        assert re.fullmatch("[0-9a-f]{40}", found.card.revision)
    elif str(found.dataset).startswith("hf://"):
        assert found.card.revision.startswith("not pinned")


def test_the_canonical_set_is_there() -> None:
    """The names that people look for."""
    wanted = """aime24 aime25 aime25_offline bbh drop flores_from_english flores_into_english gpqa_diamond
        gpqa_diamond_offline gsm8k gsm8k_offline healthbench humaneval ifeval math500 mgsm mmlu_generative
        mmlu_generative_offline mmlu_pro nq_open simpleqa squad squad_v2 triviaqa truthfulqa_gen wmt14_de_en
        wmt14_en_de wmt14_en_fr wmt14_fr_en wmt24pp xstest"""
    assert set(wanted.split()) <= set(BUILT_IN)
