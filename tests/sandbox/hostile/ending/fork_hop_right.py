# what: the same with right answers; the process that was started has ended all the same
# problem: double
# verdict: runtime_error|passed
import os
import time

if os.fork():
    os._exit(0)
time.sleep(0.1)


def double(x):
    return 2 * x
