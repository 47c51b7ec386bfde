# what: raises the exception that the tests expect
# problem: raises
# verdict: passed
import math


def root(x):
    if x < 0:
        raise ValueError(f"{x} has no root")
    return math.isqrt(x)
