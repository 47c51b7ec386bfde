# what: the plain answer to tests that map
# problem: mapped
# verdict: passed
def double(x):
    return 2 * x
