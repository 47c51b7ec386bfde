# what: calls the builtin exit, which a model writes most often
# problem: double
# verdict: runtime_error
def double(x):
    exit(0)
