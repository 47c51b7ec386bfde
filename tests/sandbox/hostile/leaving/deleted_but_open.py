# what: fills the disk with files that have no name any more and are held by a daemon
# verdict: passed
import os
import time

if os.fork() == 0:
    os.setsid()
    for place in range(2):
        handle = os.open(f"held-{place}", os.O_RDWR | os.O_CREAT)
        os.unlink(f"held-{place}")
        os.write(handle, bytes(20 << 20))
    time.sleep(3600)
    os._exit(0)
time.sleep(0.2)


def double(x):
    return 2 * x
