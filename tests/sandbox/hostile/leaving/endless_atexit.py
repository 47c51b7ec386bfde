# what: registers an exit handler that never returns
# verdict: passed
import atexit
import time

atexit.register(time.sleep, 3600)


def double(x):
    return 2 * x
