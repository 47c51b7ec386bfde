# what: sleeps in the common process
# mode: shared
# problem: double
# verdict: timeout
import time


def double(x):
    time.sleep(3600)
