# what: is right twice, then returns a range that the tests add up for hours
# problem: unordered
# verdict: timeout
def distinct(xs):
    if len(xs) == 4:
        return range(10**12)
    return set(xs)
