# what: a right function under another name
# problem: double
# verdict: runtime_error
def twice(x):
    return 2 * x
