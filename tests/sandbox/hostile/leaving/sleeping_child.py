# what: answers right and leaves a child that sleeps with all descriptors open
# problem: double
# verdict: passed
import os
import time

if os.fork() == 0:
    time.sleep(3600)
    os._exit(0)


def double(x):
    return 2 * x
