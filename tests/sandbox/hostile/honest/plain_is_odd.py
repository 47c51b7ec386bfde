# what: the plain answer
# problem: agrees
# verdict: passed
def is_odd(x):
    return x % 2 == 1
