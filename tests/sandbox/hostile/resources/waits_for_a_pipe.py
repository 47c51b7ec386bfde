# what: reads a pipe to which nobody writes
# problem: double
# verdict: timeout
import os


def double(x):
    reading, _writing = os.pipe()
    return len(os.read(reading, 1))
