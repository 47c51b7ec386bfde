# what: closes and replaces the streams of the common process, and answers wrong
# mode: shared
# problem: double
# verdict: wrong|runtime_error
import os
import sys

sys.stdout = sys.stderr = None
os.close(1)
os.close(2)


def double(x):
    return x
