# what: recurses ten thousand deep after it has raised the limit
# problem: listy
# verdict: passed
import sys

sys.setrecursionlimit(50_000)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def evens(xs):
    assert depth(10_000) == 10_000
    if not xs:
        return []
    return ([xs[0]] if xs[0] % 2 == 0 else []) + evens(xs[1:])
