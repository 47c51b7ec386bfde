"""What a gateway says in headers alone: that another model answered than the one that was asked. No
I/O.

LiteLLM's proxy names the requested model in the body of the answer whatever it asked, and says the
rest in headers (docs.litellm.ai, "Response Headers").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ATTEMPTED: Final = "x-litellm-attempted-fallbacks"
_MODELS: Final = ("x-litellm-model-group", "x-litellm-model-id")
_CHARACTERS_MAX: Final = 200


def fallback_of(headers: Mapping[str, str]) -> str | None:
    """Return the model that a gateway fell back to, "unnamed" where it does not say which; None
    where it did not.

    Args:
        headers: Of the answer; lookup ignores case.

    >>> fallback_of({"x-litellm-attempted-fallbacks": "1", "x-litellm-model-group": "small"})
    'small'
    >>> fallback_of({"x-litellm-attempted-fallbacks": "0", "x-litellm-model-group": "large"}) is None
    True
    """
    attempted = headers.get(_ATTEMPTED, "")
    if not attempted.isdecimal() or int(attempted[:9]) == 0:
        return None
    return next(
        (headers[name][:_CHARACTERS_MAX] for name in _MODELS if headers.get(name)), "unnamed"
    )
