# what: adds up a range in C
# problem: double
# verdict: timeout
def double(x):
    return sum(range(10**12))
