# what: works with numbers of many thousand digits and turns them into text
# problem: double
# verdict: passed
import sys

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


def double(x):
    assert len(str(7**20_000)) == 16_902
    return int(str(x)) * 2
