# what: turns a huge number into digits, in time that grows with the square
# problem: double
# verdict: timeout
import sys

sys.set_int_max_str_digits(0)


def double(x):
    return len(str(3 ** (10**7))) and 2 * x
