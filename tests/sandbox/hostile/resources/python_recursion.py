# what: recurses until the interpreter refuses
# problem: double
# verdict: runtime_error
def double(x):
    return double(x + 1)
