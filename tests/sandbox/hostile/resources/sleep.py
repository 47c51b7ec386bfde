# what: sleeps
# problem: double
# verdict: timeout
import time


def double(x):
    time.sleep(3600)
