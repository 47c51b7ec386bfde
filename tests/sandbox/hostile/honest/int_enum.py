# what: returns members of an IntEnum and booleans, which equal numbers
# problem: double
# verdict: passed
from enum import IntEnum


class Number(IntEnum):
    ZERO = 0
    TWO = 2
    FOUR = 4


def double(x):
    return Number(2 * x) if x in (0, 1, 2) else 2 * x
