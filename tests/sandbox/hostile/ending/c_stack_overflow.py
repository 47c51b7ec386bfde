# what: recurses through C code until the stack is spent and the process crashes
# problem: double
# verdict: runtime_error|out_of_memory
import sys

sys.setrecursionlimit(10**9)


def double(x):
    return list(map(double, [x]))[0]
