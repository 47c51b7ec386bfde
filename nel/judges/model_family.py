"""Guesses the family of a model from its name, since judges favour models of their own family.

A distilled model has two families, its teacher's and its student's. A name proves nothing:
deployments choose it.
"""

from __future__ import annotations

import re
from typing import Final

_FAMILIES: Final = {
    "claude": ("claude",),
    "command": ("command", "c4ai", "aya", "cohere"),
    "dbrx": ("dbrx",),
    "deepseek": ("deepseek",),
    "ernie": ("ernie",),
    "exaone": ("exaone",),
    "falcon": ("falcon",),
    "gemini": ("gemini", "gemma", "palm", "learnlm"),
    "glm": ("glm", "chatglm", "codegeex"),
    "gpt": ("gpt", "chatgpt", "o1", "o3", "o4", "davinci"),
    "granite": ("granite",),
    "grok": ("grok",),
    "hunyuan": ("hunyuan",),
    "internlm": ("internlm",),
    "jamba": ("jamba",),
    "kimi": ("kimi", "moonlight", "moonshot"),
    "llama": ("llama", "codellama", "vicuna", "alpaca", "tulu"),
    "minimax": ("minimax", "abab"),
    "mistral": (
        "mistral",
        "mixtral",
        "ministral",
        "magistral",
        "codestral",
        "devstral",
        "pixtral",
        "zephyr",
    ),
    "nemotron": ("nemotron",),
    "nova": ("nova",),
    "olmo": ("olmo",),
    "phi": ("phi",),
    "qwen": ("qwen", "qwq", "qvq"),
    "smollm": ("smollm",),
    "yi": ("yi",),
}
"""Family to the prefixes of words in the names of its models."""
_VARIANT: Final = re.compile(
    r"""
    (?:
        [-_.:@]
        (?:
            (?P<date>\d{4}-\d{2}-\d{2} | \d{8} | \d{4})
            | (?P<version>latest | v\d+:\d+)
            | (?P<quantization>fp\d+ | bf16 | int\d | awq | gptq | gguf | turbo-fp8)
            | (?P<tier>free)
        )
    )+$
    """,
    re.VERBOSE,
)
"""What deployments append to a model's name: a date, a version, a quantization, a price tier, as in
``gpt-4o-2024-08-06``, ``claude-3-5-sonnet-20241022-v2:0``, ``llama-3.1-8b-fp8``, ``qwen3:free``.
"""


def families_of(model: str) -> frozenset[str]:
    """Return the families that a model's name mentions: of a distilled model there are two.

    >>> sorted(families_of("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"))
    ['deepseek', 'qwen']
    >>> sorted(families_of("us.anthropic.claude-3-5-sonnet-20241022-v2:0"))
    ['claude']
    """
    name = model.strip().rsplit("/", 1)[-1].casefold()
    words = [word for word in re.split(r"[^a-z0-9]+", name) if word]
    families = set()
    for family, beginnings in _FAMILIES.items():
        for beginning in beginnings:
            # Only digits may follow short prefixes ("yi", "phi", "o1"): other words begin so too.
            tail = r"\d*" if len(beginning) <= 3 else r".*"  # noqa: PLR2004
            if any(re.fullmatch(re.escape(beginning) + tail, word) for word in words):
                families.add(family)
    return frozenset(families)


def same_family(a: str, b: str) -> bool | None:
    """Return whether two models share a family, None where a name gives none.

    >>> same_family("gpt-4o-2024-08-06", "openai/o3-mini"), same_family("Qwen/Qwen2.5-7B-Instruct", "gpt-4o")
    (True, False)
    """
    if same_model(a, b):
        return True
    families_a, families_b = families_of(a), families_of(b)
    return bool(families_a & families_b) if families_a and families_b else None


def same_model(a: str, b: str) -> bool:
    """Return whether two names are one model, whatever its provider, date and quantization.

    >>> same_model("openai/gpt-4o", "gpt-4o-2024-08-06"), same_model("gpt-4o", "gpt-4o-mini")
    (True, False)
    """
    return _base_name(a) == _base_name(b)


def _base_name(model: str) -> str:
    return _VARIANT.sub("", model.strip().rsplit("/", 1)[-1].casefold())
