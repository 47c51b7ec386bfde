# what: leaves the harness no room to call anything
# verdict: wrong|runtime_error
import sys


def double(x):
    for limit in range(5, 200):
        try:
            sys.setrecursionlimit(limit)
            break
        except RecursionError:
            pass
    return x
