# what: an honest but hopeless algorithm
# problem: double
# verdict: timeout
def steps(n):
    return 1 if n < 2 else steps(n - 1) + steps(n - 2)


def double(x):
    return steps(80) and 2 * x
