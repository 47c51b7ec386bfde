# what: aborts
# problem: double
# verdict: runtime_error
import os


def double(x):
    os.abort()
