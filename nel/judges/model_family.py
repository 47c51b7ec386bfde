"""Which family a model is of, by its name: a judge likes its own kind. Pure, and sure of nothing: names are given.

Trap: a distilled model is of two families, its teacher's and its student's.
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
    "mistral": ("mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral", "zephyr"),
    "nemotron": ("nemotron",),
    "nova": ("nova",),
    "olmo": ("olmo",),
    "phi": ("phi",),
    "qwen": ("qwen", "qwq", "qvq"),
    "smollm": ("smollm",),
    "yi": ("yi",),
}
"""Family to the beginnings of the words in names of its models."""
_VARIANT: Final = re.compile(
    r"(?:[-_.:@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest|v\d+:\d+|fp\d+|bf16|int\d|awq|gptq|gguf|free|turbo-fp8))+$"
)


def families_of(model: str) -> frozenset[str]:
    """Return the families that a model's name names; several for a distilled one, none where it is unknown.

    >>> sorted(families_of("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"))
    ['deepseek', 'qwen']
    >>> sorted(families_of("us.anthropic.claude-3-5-sonnet-20241022-v2:0"))
    ['claude']
    """
    name = model.strip().rsplit("/", 1)[-1].casefold()
    words = [word for word in re.split(r"[^a-z0-9]+", name) if word]
    found = set()
    for family, beginnings in _FAMILIES.items():
        for beginning in beginnings:
            tail = r"\d*" if len(beginning) <= 3 else r".*"  # noqa: PLR2004 - "yi", "phi", "o1" begin too many words
            if any(re.fullmatch(re.escape(beginning) + tail, word) for word in words):
                found.add(family)
    return frozenset(found)


def family_of(model: str) -> str | None:
    """Return the family of a model, None where its name tells none; of several, those in order joined by ``+``.

    >>> family_of("meta/llama-3.1-70b-instruct"), family_of("my-finetune")
    ('llama', None)
    """
    return "+".join(sorted(families_of(model))) or None


def same_family(one: str, other: str) -> bool | None:
    """Return whether two models are of one family, None where a name does not tell.

    >>> same_family("gpt-4o-2024-08-06", "openai/o3-mini"), same_family("Qwen/Qwen2.5-7B-Instruct", "gpt-4o")
    (True, False)
    """
    if same_model(one, other):
        return True
    first, second = families_of(one), families_of(other)
    return bool(first & second) if first and second else None


def same_model(one: str, other: str) -> bool:
    """Return whether two names are of one model, whoever serves it and whatever its date.

    >>> same_model("openai/gpt-4o", "gpt-4o-2024-08-06"), same_model("gpt-4o", "gpt-4o-mini")
    (True, False)
    """
    return _plain(one) == _plain(other)


def _plain(model: str) -> str:
    return _VARIANT.sub("", model.strip().rsplit("/", 1)[-1].casefold())
