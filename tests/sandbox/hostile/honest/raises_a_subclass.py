# what: raises an exception of its own that derives from the one expected
# problem: raises
# verdict: passed
import math


class NegativeNumber(ValueError):
    def __init__(self, number, reason):
        super().__init__(f"{number}: {reason}")
        self.number = number


def root(x):
    if x < 0:
        raise NegativeNumber(x, "negative")
    return math.isqrt(x)
