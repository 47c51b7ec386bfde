# what: makes the function by partial application of a builtin
# problem: double
# verdict: passed
import functools
import operator

double = functools.partial(operator.mul, 2)
