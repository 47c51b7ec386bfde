# what: empties the loaded modules of the common process, and answers wrong
# mode: shared
# problem: double
# verdict: wrong|runtime_error
import sys

sys.modules.clear()


def double(x):
    return x
