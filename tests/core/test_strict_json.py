"""Many JSON texts are decoded as each alone would be, also those that the fast decoder refuses."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from nel.core.strict_json import dumps, dumps_bytes, dumps_line, loads, pretty

BEYOND_64_BITS = 10**40


@pytest.mark.parametrize(
    "value", [[BEYOND_64_BITS], {"a": [-BEYOND_64_BITS, "\ud800"]}, {"b": 2**64}, [2**64 - 1, -(2**63)]]
)
@pytest.mark.parametrize("encode", [dumps, dumps_bytes, dumps_line, pretty])
def test_integers_beyond_64_bits_keep_their_digits(encode: Callable[[object], str | bytes], value: object) -> None:
    assert loads(encode(value)) == value
    assert json.loads(encode(value)) == value


@pytest.mark.parametrize(
    "damaged", [b"", b"NaN", b"[Infinity]", b'{"a":1},{"a":2}', b"{'a': 1}", b"\xff", b"[" * 9_000]
)
def test_a_damaged_text_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of the library
        loads(damaged)
