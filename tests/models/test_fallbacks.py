"""A gateway says in headers alone that another model answered."""

from __future__ import annotations

import pytest

from nel.models.payloads import fallback_of

ATTEMPTED = "x-litellm-attempted-fallbacks"


def test_the_model_group_that_answered_is_named() -> None:
    """LiteLLM names the group that it fell back to."""
    assert fallback_of({ATTEMPTED: "1", "x-litellm-model-group": "small", "x-litellm-model-id": "7"}) == "small"


def test_a_deployment_is_named_where_the_group_is_not() -> None:
    """An older proxy sends the deployment's id alone."""
    assert fallback_of({ATTEMPTED: "2", "x-litellm-model-id": "7"}) == "7"


def test_a_fallback_without_a_name_is_one() -> None:
    """That it was another model is known all the same."""
    assert fallback_of({ATTEMPTED: "1"}) == "unnamed"


@pytest.mark.parametrize("headers", [{}, {ATTEMPTED: "0"}, {ATTEMPTED: "no"}, {"x-litellm-model-group": "large"}])
def test_an_answer_of_the_requested_model_is_none(headers: dict[str, str]) -> None:
    """No fallback was attempted, or the header does not say a number."""
    assert fallback_of(headers) is None
