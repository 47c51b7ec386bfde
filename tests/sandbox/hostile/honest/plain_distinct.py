# what: the plain answer, as a set
# problem: unordered
# verdict: passed
def distinct(xs):
    return set(xs)
