"""Refusals: which are alike, what a neutral request is, what a user can change. Sends nothing."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final

from nel.config.openai_environment import key_variable
from nel.config.schema import EndpointConfig
from nel.types import ResponseError

NEUTRAL_PROMPT: Final = "Reply with the word OK."
_ALIKE: Final = 0.75
"""Share of two messages that is equal where they differ in a number or a name only."""
_CHANGING: Final = re.compile(r"[0-9a-f]*[0-9][0-9a-f]*|req_\w+", re.IGNORECASE)
"""Numbers, and the identifiers of requests."""


def is_alike(answer: ResponseError, other_error: ResponseError) -> bool:
    """Return whether two refusals say the same, numbers and identifiers aside."""
    if (answer.kind, answer.status) != (other_error.kind, other_error.status):
        return False
    if answer.kind == "connection":
        return True
    # "req_7f3 … 4097 tokens" and "req_80b … 5113 tokens" are one refusal.
    first, second = (_CHANGING.sub("", error.message.lower()) for error in (answer, other_error))
    return first == second or SequenceMatcher(None, first, second, autojunk=False).ratio() >= _ALIKE


def advice(error: ResponseError, endpoint: EndpointConfig) -> str:
    """Return what a user can change about a refusal, by the words of the endpoint."""
    words = error.message
    hint = next((text for pattern, text in _ADVICE if pattern.search(words)), None)
    if hint is None:
        return "correct the setting that it names"
    variable = key_variable(endpoint)
    key = (
        f"check the key in {variable}"
        if variable
        else "name the variable with the key: --api-key-env"
    )
    return hint.format(model=endpoint.model, key=key)


def _when(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_ADVICE: Final = (
    (_when(r"max_completion_tokens.{0,20} instead"),
     "give -O generation.extra.max_completion_tokens=N for --max-tokens"),
    (_when(r"^HTTP 407\b|proxy authentication"),
     "give the proxy its user and password: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT"),
    (_when(r"^HTTP 511\b"), "sign in to the network that this machine is in"),
    (_when(r"^HTTP (?:2\d\d|501|505|426)\b"), "correct --model-url: no chat completions come from there"),
    (_when(r"\b(?:api.?key|authenticat\w*|unauthorized|credential|(?:proxy|access|bearer) token)"), "{key}"),
    (_when(r"max_(?:completion_|new_|output_)?tokens|output tokens|completion tokens|maximum tokens"),
     "lower --max-tokens"),
    (_when(r"temperature"), "leave out --temperature, or give the value that it takes"),
    (_when(r"top_p"), "leave out --top-p, or give the value that it takes"),
    (_when(r"\bseed\b"), "leave out --seed"),
    (_when(r"\bstop\b"), "leave out --stop, or give fewer"),
    (_when(r"\bstream"), "set -O endpoint.stream=false"),
    (_when(r"system (?:role|message|prompt)|role.{0,20}system"), "leave out --system-prompt"),
    (_when(r"chat template|not a chat model|does not support chat|v1/completions"),
     "set -O endpoint.protocol=completions"),
    (_when(r"unrecognized|unknown (?:field|parameter|name)|extra (?:inputs|fields)|unsupported parameter"),
     "take the parameter that it names out of generation.extra"),
    (_when(r"\bmodels?\b|deployment"), 'check --model-id "{model}"'),
)  # fmt: skip
