# what: raises SystemExit(0) in the middle of the tests
# mode: shared
# problem: double
# verdict: runtime_error
def double(x):
    raise SystemExit(0)
