# what: kills every process it may signal, and answers wrong
# problem: double
# verdict: wrong|runtime_error
import os
import signal

try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass


def double(x):
    return x
