# what: forks, leaves as the parent, and goes on as the child with wrong answers
# problem: double
# verdict: runtime_error|wrong
import os

if os.fork():
    os._exit(0)


def double(x):
    return 3 * x
