# what: returns a float of the program's own text that is infinite
# problem: floats
# verdict: wrong
def mean(xs):
    return 1e999
