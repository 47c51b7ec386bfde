# what: the plain answer, with the special values of floats
# problem: floats
# verdict: passed
import math


def mean(xs):
    return math.fsum(xs) / len(xs) if xs else math.nan
