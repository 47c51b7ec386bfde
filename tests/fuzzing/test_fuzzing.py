"""A typed result or a typed error, whatever an endpoint, a judge, a dataset or a container sends."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzzing.readers import READERS
from tests.fuzzing.search import Failure, kept, kept_line, search

_CASES = 100_000


@pytest.mark.parametrize("failure", kept(), ids=lambda failure: f"{failure.reader}-{failure.error[:40]}")
def test_what_failed_once_does_not_fail_again(failure: Failure) -> None:
    """Each input of `found.jsonl` ended a run, or would have."""
    READERS[failure.reader].check(failure.data)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=50)
@given(seed=st.integers(0, 2**63))
def test_a_few_hundred_inputs(name: str, seed: int) -> None:
    """Well-formed inputs after a few edits are read or refused."""
    reader = READERS[name]
    reader.check(reader.make(Random(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_hundred_thousand_inputs(name: str) -> None:
    """As above, with a fixed seed; ``python -m tests.fuzzing`` looks further."""
    found = [kept_line(failure) for failure in search(name, seed=1, cases=_CASES // len(READERS) + 1)]
    assert not found, "\n".join(found)
