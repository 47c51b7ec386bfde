# what: returns NaN, with which naive tolerances agree
# problem: floats
# verdict: wrong
def mean(xs):
    return float("nan")
