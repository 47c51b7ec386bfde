# what: raises AssertionError itself
# problem: double
# verdict: runtime_error|wrong
def double(x):
    raise AssertionError("this is the tests' exception")
