# what: returns a lazy map over a filter
# problem: unordered
# verdict: passed
def distinct(xs):
    return map(int, filter(lambda number: number is not None, sorted(set(xs))))
