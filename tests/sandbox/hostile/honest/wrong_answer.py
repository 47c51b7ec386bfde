# what: is honestly wrong
# problem: double
# verdict: wrong
def double(x):
    return x + 2
