# what: leaves a process whose ancestors, twenty deep, are all gone
# problem: double
# verdict: passed
import os
import time

pid = os.fork()
if pid == 0:
    for _ in range(20):
        if os.fork():
            os._exit(0)
        os.setsid()
    time.sleep(3600)
    os._exit(0)
os.waitpid(pid, 0)


def double(x):
    return 2 * x
