# what: turns the common process into one that succeeds
# mode: shared
# problem: double
# verdict: runtime_error
import os


def double(x):
    os.execv("/bin/true", ["true"])
