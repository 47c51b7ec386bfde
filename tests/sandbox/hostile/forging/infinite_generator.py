# what: returns a generator without end, which equals no list
# problem: listy
# verdict: wrong|runtime_error
import itertools


def evens(xs):
    return itertools.count(0, 2)
