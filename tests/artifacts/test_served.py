"""What an endpoint calls itself: what counts as a change."""

from __future__ import annotations

import pytest

from nel.artifacts.served import ServedBuilds
from nel.types import Response, ResponseError


@pytest.mark.parametrize(
    ("responses", "n_warnings"),
    [
        ([Response(model="a"), Response(model="a")], 0),
        ([Response(model="a", system_fingerprint="x"), Response(model="a", system_fingerprint="y")], 1),
        ([Response(model="a"), Response(model="b", cached=True)], 0),
        ([Response(model="a"), Response(error=ResponseError(kind="timeout", message="")), Response()], 0),
    ],
    ids=["one", "fingerprints", "cached", "none"],
)
def test_what_is_a_change(responses: list[Response], n_warnings: int) -> None:
    """Only what this run's own answers say."""
    served = ServedBuilds()
    for idx, response in enumerate(responses):
        served.add(idx, response)
    assert len(served.warnings()) == n_warnings
