# what: the plain answer to tests that pass results back and use keywords
# problem: composed
# verdict: passed
def double(x):
    return 2 * x
