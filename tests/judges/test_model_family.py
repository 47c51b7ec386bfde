"""Families of models, by names as endpoints give them."""

from __future__ import annotations

import pytest

from nel.judges.model_family import families_of, same_family


@pytest.mark.parametrize(
    ("model", "families"),
    [
        ("meta/llama-3.1-70b-instruct", "llama"),
        ("gpt-4o-2024-08-06", "gpt"),
        ("o3-mini", "gpt"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude"),
        ("google/gemma-2-9b-it", "gemini"),
        ("DeepSeek-R1-Distill-Qwen-7B", "deepseek qwen"),
        ("nvidia/llama-3.1-nemotron-70b-instruct", "llama nemotron"),
        ("my-finetune", ""),
        ("yield-model", ""),
    ],
)
def test_families_of(model: str, families: str) -> None:
    """Whatever the provider and the spelling; a distilled model has two, an unknown name none."""
    assert families_of(model) == set(families.split())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("DeepSeek-R1-Distill-Qwen-7B", "Qwen/Qwen2.5-7B-Instruct", True),
        ("DeepSeek-R1-Distill-Qwen-7B", "gpt-4o", False),
        ("my-finetune", "gpt-4o", None),
        ("my-finetune", "org/My-Finetune", True),
    ],
)
def test_same_family(one: str, other: str, same: bool | None) -> None:
    """None where a name does not tell; equal names are equal models."""
    assert same_family(one, other) is same
    assert same_family(other, one) is same
