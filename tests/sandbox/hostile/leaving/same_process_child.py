# what: leaves a child of the common process that holds everything open
# mode: shared
# verdict: passed
import os
import time

if os.fork() == 0:
    os.setsid()
    time.sleep(3600)
    os._exit(0)


def double(x):
    return 2 * x
