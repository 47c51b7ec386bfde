# what: is ended by its own alarm while it waits
# problem: double
# verdict: runtime_error
import signal
import time


def double(x):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    time.sleep(60)
