"""Tells a prompt that does not fit the model's context from a limit on the answer that no prompt could have. No I/O.

A prompt that is too long is the model's failure; ``max_tokens`` beyond what the server allows is the user's setting.
Servers refuse both with the same statuses and almost the same words, so the numbers in a message decide where there
are any: what the window holds, what the prompt takes and what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, Literal

Blame = Literal["prompt", "setting"]

_ROOM_MIN: Final = 32
"""A limit that leaves less than this many tokens of the window to the prompt leaves room for none."""
_CHARACTERS_MAX: Final = 4_000
"""Of a message that are read; proxies put words in front of the server's."""

PROMPT_CODES: Final = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, llama-cpp-python
        "context_window_exceeded",
        "contextwindowexceedederror",  # LiteLLM
        "model_context_window_exceeded",
        "exceed_context_size_error",  # llama.cpp
        "request_too_large",  # Anthropic, more than 32 MB
        "1261",  # Zhipu: prompt exceeds max length
    }
)
"""Codes and types of an error object that name a prompt which is too long."""

PROMPT_WORDS: Final = re.compile(
    r"""
      context.{0,20}(?:length|window|size|limit)                      # OpenAI, vLLM, llama.cpp, Mistral, Kimi, MiniMax
    | maximum.{0,30}\btokens                                          # Gemini, Azure
    | maximum\ (?:prompt|model|input)\ length                         # xAI, vLLM before 0.6
    | maximum\ allowed\ (?:input\ )?(?:length|size)                   # DeepSeek, SGLang
    | (?:prompt|input|inputs)`?\ (?:is|was)\ too\ (?:long|large)      # Anthropic, Bedrock, Replicate
    | (?:prompt|input)\ too\ long                                     # Ollama
    | input\ length.{0,30}exceeds                                     # Ollama, SGLang
    | too\ many\ (?:input\ )?tokens                                   # Bedrock, Cohere
    | input\ tokens\ exceed                                           # OpenAI: … the configured limit of 272000 tokens
    | tokens\ in\ request\ more\ than\ max\ tokens\ allowed           # Zhipu
    | range\ of\ input\ length                                        # DashScope
    | `?inputs`?\ (?:must\ have\ less\ than\ \d+\ tokens|tokens\ \+\ `?max_new_tokens`?)  # TGI
    | prompt\ token\ count\ of\ \d+\ exceeds                          # GitHub
    | prompt\ exceeds\ (?:max|n_ctx|the)                              # Zhipu, llama-cpp-python
    | exceed(?:s|ed)?\ (?:the\ )?(?:model\ )?token\ limit             # Kimi
    | current\ length\ is\ \d+.{0,20}\blimit\ is                      # Cerebras
    | reduce\ the\ length\ of\ (?:the|your)\ (?:messages|prompt|input)  # Groq, OpenAI
    | (?:message|content|input|prompt)[^:]{0,30}:\ string\ too\ long  # OpenAI: a message of more than a megabyte
    | even\ without\ any\ output                                      # vLLM since 0.30
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What servers say of a prompt that does not fit; after whom each line is."""

_ALONE_TOO_LONG: Final = re.compile(r"even without any output|\b0 output tokens", re.IGNORECASE)

SETTING_WORDS: Final = re.compile(
    r"""
      max_(?:completion_|new_|output_)?tokens                          # OpenAI, vLLM, Anthropic, TGI, DeepSeek, Groq
    | max(?:imum)?(?:Output|\ output)\ ?Tokens                         # Gemini
    | (?:output|completion)\ tokens                                    # OpenAI, Anthropic
    | maximum\ tokens\ (?:you\ )?(?:requested|value)                   # Bedrock
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What servers call the limit on the answer."""

_RATE: Final = re.compile(r"tokens?[ -]per[ -](?:min|day|hour|sec)|\b[TR]P[MD]\b|rate.?limit", re.IGNORECASE)
"""Groq refuses a request that is larger than its tokens a minute with 413 and "Request too large"."""

_N: Final = r"(?<![0-9])([0-9]{1,12})"
_WINDOWS: Final = (
    rf"(?:context|prompt|model|input) (?:length|window|limit|size)(?: is| of| to|:)*(?: only)? {_N}",
    rf"max_model_len(?:=max_total_tokens)?(?:=| of ){_N}",
    rf"`?max_new_tokens`? must be <= {_N}",
    rf"context limit: [0-9]+ \+ [0-9]+ > {_N}",
    rf"with {_N} maximum context length",
)
_PROMPTS: Final = (
    rf"{_N} (?:tokens )?in (?:the|your) (?:messages|prompt|input)",
    rf"{_N} (?:`inputs`|input) tokens",
    rf"(?:resulted in|prompt contains(?: at least)?|request has|prompt has) {_N} (?:input )?tokens",
    rf"context limit: {_N} \+",
    rf"prompt \(length {_N}\)",
    rf"input \({_N} tokens\)",
)
_ANSWERS: Final = (
    rf"{_N} (?:tokens )?(?:in|for) (?:the|your) completion",
    rf"requested {_N} output tokens",
    rf"plus {_N} ['`]?max_(?:completion_)?tokens",
    rf"and {_N} `?max_new_tokens",
    rf"context limit: [0-9]+ \+ {_N}",
    rf"max_(?:completion_)?tokens'? (?:or '[a-z_]+' )?is too large: {_N}",
    rf"max_(?:completion_)?tokens={_N}",
)


def blame(message: str, codes: Collection[str] = ()) -> Blame | None:
    """Return what a refusal blames: a prompt too long for the model, the limit on the answer, or neither (None).

    Args:
        message: What the server says.
        codes: Codes and types of its error object, in lower case.

    >>> blame("This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.")
    'prompt'
    >>> blame("max_tokens is too large: 99999. This model supports at most 4096 completion tokens")
    'setting'
    """
    text = message[:_CHARACTERS_MAX].replace(",", "")
    if _RATE.search(text):
        return None
    window, prompt, answer = (_first(patterns, text) for patterns in (_WINDOWS, _PROMPTS, _ANSWERS))
    if _ALONE_TOO_LONG.search(text) or (window is not None and prompt is not None and prompt > window):
        return "prompt"
    if window is not None and answer is not None:
        if answer > window - _ROOM_MIN:
            return "setting"
        if prompt is not None:
            return "prompt"
    if not PROMPT_CODES.isdisjoint(codes) or "contextwindowexceedederror" in text.lower():
        return "prompt"
    if _names_both(text) or (PROMPT_WORDS.search(text) and not SETTING_WORDS.search(text)):
        return "prompt"
    return "setting" if SETTING_WORDS.search(text) else None


def _names_both(text: str) -> bool:
    """Return whether a message blames prompt and limit together: another prompt would have fitted."""
    return bool(re.search(r"inputs?`?(?: length| tokens)? (?:\+|and|plus) `?max_(?:new_)?tokens", text, re.IGNORECASE))


def _first(patterns: tuple[str, ...], text: str) -> int | None:
    for pattern in patterns:
        if found := re.search(pattern, text, re.IGNORECASE):
            return int(found[1])
    return None
