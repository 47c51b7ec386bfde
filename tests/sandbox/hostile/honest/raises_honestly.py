# what: is honestly broken: divides by zero
# problem: double
# verdict: runtime_error
def double(x):
    return x / 0
