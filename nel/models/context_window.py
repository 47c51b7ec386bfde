"""Tells a prompt that does not fit the model's context from a limit on the answer that no prompt
could have. No I/O.

A prompt that is too long is the model's failure; ``max_tokens`` beyond what the server allows is
the user's setting. Servers refuse both with the same statuses and almost the same words, so the
numbers in a message decide where there are any: what the window holds, what the prompt takes and
what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, Literal

from nel.models.vendor_words import RATE, UNKNOWN_FIELD

Blame = Literal["prompt", "setting"]

_ROOM_MIN: Final = 32
"""A limit that leaves fewer tokens of the window than this to the prompt leaves room for none."""
_CHARACTERS_MAX: Final = 4_000
"""Of a message that are read; proxies put words in front of the server's."""

PROMPT_CODES: Final = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, llama-cpp-python
        "context_window_exceeded",
        "contextwindowexceedederror",  # LiteLLM
        "model_context_window_exceeded",
        "model_max_prompt_tokens_exceeded",  # GitHub
        "exceed_context_size_error",  # llama.cpp
        "request_too_large",  # Anthropic, more than 32 MB; Groq
        "tokens_too_long",  # Baidu
        "1261",  # Zhipu: prompt exceeds max length
        "336103",  # Baidu: too many characters
    }
)
"""Codes and types of an error object that name a prompt which is too long."""

_TOO_MUCH: Final = r"(?:exceed|longer\ than|larger\ than|greater\ than|more\ than|too\ (?:long|large|many|big)|overflow)"
PROMPT_WORDS: Final = re.compile(
    rf"""
      context.{{0,20}}(?:length|window|size|limit)                    # OpenAI, vLLM, llama.cpp, Mistral, Kimi, MiniMax
    | maximum.{{0,30}}\btokens                                        # Gemini, Azure
    | maximum\ (?:prompt|model|input)\ length                         # xAI, vLLM before 0.6
    | maximum\ allowed\ (?:input\ )?(?:length|size)                   # DeepSeek, SGLang
    | (?:prompt|inputs?|context|messages?|conversation)`?\ (?:is|was)\ too\ (?:long|large)  # Anthropic, Bedrock
    | (?:prompt|input|inputs|messages?)\ (?:tokens?\ )?(?:length\ )?too\ (?:long|large)  # Ollama, Kimi, Baidu
    | \b(?:prompt|inputs?|messages?)\b.{{0,60}}\bis\ too\ long        # vLLM before 0.4, KoboldCpp
    | \(\d+\ tokens\)\ is\ too\ large                                 # llama.cpp
    | max_total_tokens\ \(\d+\)                                     # SiliconFlow
    | (?:input|prompt|request|conversation|context)s?[ _](?:token\ )?(?:length|size|tokens|count)
        .{{0,40}}(?:{_TOO_MUCH}|>\ )                                  # Ollama, SGLang, LMDeploy, Volcengine
    | (?:total\ tokens\ of|total\ text\ bytes|length\ of\ (?:prompt|input)).{{0,40}}(?:exceed|>|must\ be\ less)
    | too\ many\ (?:input\ |prompt\ )?tokens                          # Bedrock, Cohere, AI21
    | too\ many\ total\ text\ bytes                                   # Anthropic
    | (?:input|prompt|request)\ (?:contains\ \d+\ )?tokens.{{0,40}}\b(?:cannot\ )?exceed  # OpenAI, Bedrock, Vertex
    | input\ token\ count.{{0,40}}(?:exceed|only\ supports)           # Gemini, Vertex
    | tokens\ in\ request\ more\ than\ max\ tokens\ allowed           # Zhipu
    | max\ tokens\ of\ \d+\ exceeded                                  # Snowflake
    | range\ of\ input\ length                                        # DashScope
    | `?inputs`?\ (?:must\ have\ less\ than\ \d+\ tokens|tokens\ \+\ `?max_new_tokens`?)  # TGI
    | prompt\ token\ count\b.{{0,20}}\b(?:exceed|cannot\ exceed)      # GitHub, Databricks
    | prompt\ (?:length\ .{{0,20}})?exceeds\ (?:max|n_ctx|the)        # Zhipu, llama-cpp-python
    | exceed(?:s|ed)?\ (?:the\ )?(?:model\ )?token\ limit             # Kimi
    | exceed(?:s|ed)?\ (?:the\ )?max(?:imum)?\ input\ length          # Databricks, DeepInfra
    | (?:prompt|input|query)\b.{{0,60}}\b(?:exceeds?|not\ exceed|>|less\ than|greater\ than)\ `?
        (?:max_(?:seq|model|num|input|position|prompt)\w*|session_len|n_ctx)\b   # TensorRT-LLM, SiliconFlow, TabbyAPI
    | \bn_keep\b.{{0,20}}>=\ n_ctx | \bn_keep\b.{{0,12}}>=.{{0,6}}n_ctx          # LM Studio
    | larger\ than\ the\ max\ context                                 # llama.cpp
    | default_max_tokens`?\ \(-\d+\)                                  # TensorRT-LLM: what the prompt leaves
    | max_(?:completion_)?tokens`?\ must\ be\ at\ least\ ?1\ got\ -\d  # vLLM: likewise
    | expected\ maxLength:\ \d+\ actual:\ \d+                        # Bedrock
    | max\ input\ characters\ is\ \d+                                 # Baidu
    | current\ length\ is\ \d+.{{0,20}}\blimit\ is                    # Cerebras
    | reduce\ the\ (?:length|number\ of\ tokens)\ (?:of|in)\ (?:the|your)
        \ (?:input\ )?(?:messages|prompt|input)                       # Groq, OpenAI
    | (?:messages\b|\bcontent|\b(?:input|prompt)(?=['\[]))[^:]{{0,30}}:\ string\ too\ long  # OpenAI: over a megabyte
    | even\ without\ any\ output                                      # vLLM since 0.30
    | (?:输入|上下文|提示词?|prompt|messages).{{0,12}}(?:超过|超出|超长|过长|太长)  # Zhipu, Hunyuan
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What servers say of a prompt that does not fit; after whom each line is."""

_ALONE_TOO_LONG: Final = re.compile(
    r"""
      even\ without\ any\ output | \b0\ output\ tokens
    | default_max_tokens`?\ \(-\d | max_(?:completion_)?tokens`?\ must\ be\ at\ least\ ?1\ got\ -\d
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SURE: Final = re.compile(
    r"[0-9]|exceed|too (?:long|large)|longer than|greater than|larger than|overflow", re.IGNORECASE
)
"""Of a server error, which may be chance: it names sizes, or says that one is exceeded."""

SETTING_WORDS: Final = re.compile(
    r"""
      max_(?:completion_|new_|output_)?tokens                          # OpenAI, vLLM, Anthropic, TGI, DeepSeek, Groq
    | max(?:imum)?(?:Output|\ output)\ ?Tokens                         # Gemini
    | (?:output|completion)\ tokens                                    # OpenAI, Anthropic
    | maximum\ tokens\ (?:you\ )?(?:requested|value)                   # Bedrock
    | \bn_predict\b                                                    # llama.cpp
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What servers call the limit on the answer."""

_ASKED: Final = (
    r"(?:`?max_(?:new_|completion_|output_)?tokens"
    r"|(?:the )?(?:specified |number of )?(?:requested"
    r" )?(?:max|completion|output|prediction|response))"
)
_ITS: Final = r"(?:prompt|inputs?|messages|text input)`?"
_BOTH: Final = re.compile(
    rf"{_ITS}(?: length| tokens| \d+)*,? (?:\+|and|plus|or|and/or) {_ASKED}"
    r"|max_tokens or the prompt|length of either one",
    re.IGNORECASE,
)
"""Prompt and limit named together: another prompt would have fitted."""
_TOTAL: Final = re.compile(
    r"\brequested\b|(?:\b|_)total(?:\b|_)|\bcompletion\b|\bprediction\b|your request will take",
    re.IGNORECASE,
)
"""The sum of prompt and limit is what is too large."""

_N: Final = r"(?<![0-9])([0-9]{1,12})"
_OF_MODEL: Final = r"(?: of [\w./-]{1,80})?"
_WINDOWS: Final = (
    (
        rf"(?:context|prompt|model|input|sequence) (?:length|window|limit|size){_OF_MODEL}(?: is|"
        rf" of| to| only|:)* \(?{_N}"
    ),
    rf"max_model_len(?:=max_total_tokens)?(?:=| of ){_N}",
    rf"max_(?:seq|num)_\w+ \({_N}\)",
    rf"`?max_new_tokens`? must be <= {_N}",
    rf"context limit: [0-9]+ \+ [0-9]+ > {_N}",
    rf"with {_N} maximum context length",
    rf"\(prompt and prediction\) cannot exceed {_N}",
    rf"max_tokens [0-9]+ > {_N}",
)
_PROMPTS: Final = (
    rf"{_N} (?:tokens )?in (?:the|your) (?:messages|prompt|input)",
    rf"{_N} of text input",
    rf"{_N} (?:`inputs`|input) tokens",
    rf"{_N} tokens from the input",
    rf"(?:resulted in|prompt contains(?: at least)?|request has|prompt has) {_N} (?:input )?tokens",
    rf"context limit: {_N} \+",
    rf"prompt \(length {_N}\)",
    rf"(?:input|request|prompt) \({_N} tokens\)",
    rf"keep the first {_N} tokens",
    rf"prompt[_ ]len(?:gth)?`? \({_N}(?:\.0)?\)",
    rf"input tokens {_N} \+",
    rf"(?:input|prompt) length {_N} exceeds",
)
_ANSWERS: Final = (
    rf"{_N} (?:tokens )?(?:in|for) (?:the|your) (?:completion|output)",
    rf"requested {_N} output tokens",
    rf"plus {_N} ['`]?max_(?:completion_)?tokens",
    rf"and {_N} `?max_new_tokens",
    rf"context limit: [0-9]+ \+ {_N}",
    rf"max_(?:completion_)?tokens'? (?:or '[a-z_]+' )?is too large: {_N}",
    rf"max_(?:completion_)?tokens={_N}",
    rf"\) max_tokens \({_N}(?:\.0)?\)",
    rf"\+ max_tokens {_N} >",
)


def blame(
    message: str, codes: Collection[str] = (), *, max_tokens: int | None = None
) -> Blame | None:
    """Return what a refusal blames: a prompt too long, the limit on the answer, or None: neither.

    Args:
        message: What the server says.
        codes: Codes and types of its error object, in lower case.
        max_tokens: The limit that was sent, for messages that name a sum alone.

    >>> blame("This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.")
    'prompt'
    >>> blame("max_tokens is too large: 99999. This model supports at most 4096 completion tokens")
    'setting'
    """
    # Without its commas, so that 150,000 is one number.
    text = message[:_CHARACTERS_MAX].replace(",", "")
    if RATE.search(text) or UNKNOWN_FIELD.search(text):
        return None
    window, prompt, answer = (_first(patterns, text) for patterns in (_WINDOWS, _PROMPTS, _ANSWERS))
    if _ALONE_TOO_LONG.search(text) or (
        window is not None and prompt is not None and prompt > window
    ):
        return "prompt"
    if answer is None and max_tokens and _TOTAL.search(text):
        answer = max_tokens
    # A limit that fills the window leaves room to no prompt; beside another, this prompt is long.
    if window is not None and answer is not None:
        if answer > window - _ROOM_MIN:
            return "setting"
        if prompt is not None:
            return "prompt"
    if not PROMPT_CODES.isdisjoint(codes) or "contextwindowexceedederror" in text.lower():
        return "prompt"
    if PROMPT_WORDS.search(text) and (_BOTH.search(text) or not SETTING_WORDS.search(text)):
        return "prompt"
    return "setting" if SETTING_WORDS.search(text) else None


def is_sure(message: str, codes: Collection[str]) -> bool:
    """Return whether a server error surely blames the prompt: by a code, a size or an excess."""
    return not PROMPT_CODES.isdisjoint(codes) or bool(_SURE.search(message[:_CHARACTERS_MAX]))


def _first(patterns: tuple[str, ...], text: str) -> int | None:
    for pattern in patterns:
        if match := re.search(pattern, text, re.IGNORECASE):
            return int(match[1])
    return None
