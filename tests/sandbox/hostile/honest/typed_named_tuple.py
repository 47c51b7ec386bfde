# what: returns a typing.NamedTuple with methods
# problem: span
# verdict: passed
from typing import NamedTuple


class Span(NamedTuple):
    low: int
    high: int = 0

    @property
    def width(self):
        return self.high - self.low


def span(xs):
    result = Span(min(xs), max(xs))
    assert result.width >= 0
    return result
