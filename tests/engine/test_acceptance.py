"""Refusals are held back while it is in doubt whether the endpoint accepts any request."""

from __future__ import annotations

from nel.engine.asking.asker import Acceptance
from nel.types import ResponseError

REFUSED = ResponseError(kind="auth", message="no such key", status=401)


def test_a_refusal_that_arrives_once_all_are_known_to_be_refused_is_not_stored() -> None:
    """Requests may still be in flight when the neutral prompt is refused."""
    acceptance = Acceptance()
    acceptance.doubt()
    acceptance.refuses_all = True
    acceptance.decide()
    assert acceptance.holds(REFUSED)


def test_a_refusal_after_an_answer_is_stored() -> None:
    """An answer shows that the endpoint accepts some requests."""
    acceptance = Acceptance()
    acceptance.doubt()
    assert acceptance.holds(REFUSED)
    assert not acceptance.holds(None)
    assert not acceptance.holds(REFUSED)
