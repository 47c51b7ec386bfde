# what: leaves daemons of several kinds, named so that they can be told
# verdict: wrong
import ctypes
import os
import signal
import time

for kind in range(4):
    if os.fork() == 0:
        os.setsid()
        if kind and os.fork():
            os._exit(0)
        ctypes.CDLL(None).prctl(15, b"nel-left-%d" % kind, 0, 0, 0)
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        if kind == 3:
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)
        os._exit(0)
time.sleep(0.2)


def double(x):
    return None
