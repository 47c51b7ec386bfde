# what: raises SystemExit(0) when it is first called
# problem: double
# verdict: runtime_error
def double(x):
    raise SystemExit(0)
