# what: sleeps for half a second, well within the limits
# problem: double
# verdict: passed
import time

time.sleep(0.3)


def double(x):
    time.sleep(0.03)
    return 2 * x
