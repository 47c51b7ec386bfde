# what: computes a power in C, which looks at no signal for minutes
# verdict: timeout
def double(x):
    return 10 ** (10**8) and 2 * x
