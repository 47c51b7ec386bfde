# what: is stopped by its child, again whenever somebody lets it go on
# verdict: timeout
import os
import signal
import time

parent = os.getpid()
stopped, stops = os.pipe()
if os.fork() == 0:
    os.kill(parent, signal.SIGSTOP)
    os.write(stops, b"x")
    while True:
        os.kill(parent, signal.SIGSTOP)
        time.sleep(0.01)
os.read(stopped, 1)


def double(x):
    return 2 * x
