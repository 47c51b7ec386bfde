# what: looks as if somebody had pressed control-C
# problem: double
# verdict: runtime_error
def double(x):
    raise KeyboardInterrupt
