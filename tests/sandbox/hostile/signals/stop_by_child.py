# what: is stopped by its child, again whenever somebody lets it go on
# problem: double
# verdict: timeout
import os
import signal
import time

parent = os.getpid()
if os.fork() == 0:
    while True:
        os.kill(parent, signal.SIGSTOP)
        time.sleep(0.01)


def double(x):
    return 2 * x
