# what: the plain answer
# problem: span
# verdict: passed
def span(xs):
    return min(xs), max(xs)
