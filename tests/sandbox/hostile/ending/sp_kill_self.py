# what: kills the common process
# mode: shared
# problem: double
# verdict: runtime_error
import os


def double(x):
    os.kill(os.getpid(), 9)
