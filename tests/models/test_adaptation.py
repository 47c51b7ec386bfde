"""Which refusals ask for a change of the settings: the words that OpenAI, Azure and LiteLLM send, from their issues."""

from __future__ import annotations

import pytest

from nel.models.adaptation import change_settings, changes_for
from nel.types import Generation, ResponseError

SENT = Generation(temperature=0.0, top_p=0.9, max_tokens=64, stop=("x",), seed=1)
LITELLM = "litellm.UnsupportedParamsError: "


@pytest.mark.parametrize(
    ("says", "changes"),
    [
        (
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead."
            ),
            {"max_tokens": "max_completion_tokens"},
        ),
        (
            (
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is "
                "supported."
            ),
            {"temperature": "not sent"},
        ),
        ("Unsupported parameter: 'top_p' is not supported with this model.", {"top_p": "not sent"}),
        (
            (
                f"{LITELLM}O-series models don't support temperature=0.0. Only temperature=1 is supported. To drop "
                "unsupported openai params from the call, set `litellm.drop_params = True`"
            ),
            {"temperature": "not sent"},
        ),
        (
            f"{LITELLM}openai does not support parameters: ['temperature', 'top_p'], for model=o3-mini.",
            {"temperature": "not sent", "top_p": "not sent"},
        ),
        ("`temperature` is deprecated for this model.", {"temperature": "not sent"}),
        ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", {}),
        ("Unsupported parameter: 'stop' is not supported with this model.", {}),
        ("temperature must be between 0 and 1", {}),
        ("max_tokens is too large: 99999. This model supports at most 4096 completion tokens", {}),
        ("The model `o9` does not exist", {}),
    ],
)
def test_what_a_refusal_asks_for(says: str, changes: dict[str, str]) -> None:
    """A new name for the limit, and no temperature or top_p; what has no equal is left to the user."""
    assert changes_for(ResponseError(kind="bad_request", message=f"HTTP 400: {says}", status=400), SENT) == changes


def test_only_what_was_sent_is_changed() -> None:
    """A refusal of what was not sent, or of another kind, changes nothing; a change made once is not made again."""
    error = ResponseError(
        kind="bad_request", message="Unsupported parameter: 'temperature' is not supported", status=400
    )
    assert changes_for(error, Generation()) == {}
    assert changes_for(ResponseError(kind="auth", message=error.message, status=401), SENT) == {}
    found = change_settings(SENT, {"max_tokens": "max_completion_tokens", "temperature": "not sent"})
    assert found == Generation(top_p=0.9, stop=("x",), seed=1, extra={"max_completion_tokens": 64})
    assert changes_for(error, found) == {}
    assert change_settings(found, {"max_tokens": "max_completion_tokens", "temperature": "not sent"}) == found
