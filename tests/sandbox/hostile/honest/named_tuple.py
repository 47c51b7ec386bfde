# what: returns a namedtuple, which equals a tuple
# problem: span
# verdict: passed
from collections import namedtuple

Span = namedtuple("Span", "low high")


def span(xs):
    return Span(min(xs), max(xs))
