# what: leaves a daemon: two forks, a session of its own, no parent
# verdict: passed
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    time.sleep(3600)
    os._exit(0)
os.wait()


def double(x):
    return 2 * x
