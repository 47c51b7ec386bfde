# what: recurses without end and without the interpreter's limit
# problem: double
# verdict: runtime_error|out_of_memory|timeout
import sys

sys.setrecursionlimit(2**31 - 1)


def double(x):
    return double(x + 1)
