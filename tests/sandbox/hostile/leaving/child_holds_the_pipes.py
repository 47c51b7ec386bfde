# what: leaves a child in its own session that keeps standard output open and would print later
# problem: double
# verdict: passed
import os
import time

if os.fork() == 0:
    os.setsid()
    time.sleep(1.5)
    os.write(1, b"late\n")
    time.sleep(3600)


def double(x):
    return 2 * x
