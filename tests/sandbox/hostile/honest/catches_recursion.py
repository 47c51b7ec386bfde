# what: runs into the recursion limit on purpose and goes on
# problem: double
# verdict: passed
def endless():
    return endless()


def double(x):
    try:
        endless()
    except RecursionError:
        pass
    return 2 * x
