# what: sleeps
# verdict: timeout
import time


def double(x):
    time.sleep(3600)
