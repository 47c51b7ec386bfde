# what: the parent leaves with status 0 and a child runs the tests, with wrong answers
# mode: shared
# problem: double
# verdict: runtime_error|wrong
import os

if os.fork():
    os._exit(0)


def double(x):
    return 3 * x
