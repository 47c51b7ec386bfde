# what: prints a structure nested a million deep without a limit
# problem: listy
# verdict: runtime_error|out_of_memory|timeout
import sys

sys.setrecursionlimit(2**31 - 1)


def evens(xs):
    value = []
    for _ in range(1_000_000):
        value = [value]
    return repr(value)
