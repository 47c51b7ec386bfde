# what: is honestly broken: divides by zero
# verdict: runtime_error
def double(x):
    return x / 0
