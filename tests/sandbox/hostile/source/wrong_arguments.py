# what: a function of too many arguments
# problem: double
# verdict: runtime_error
def double(x, y):
    return x + y
