# what: burns the core in children that end before their limit and are followed by others
# verdict: timeout
import os
import time


def double(x):
    while True:
        if os.fork() == 0:
            until = time.monotonic() + 0.3
            while time.monotonic() < until:
                pass
            os._exit(0)
        os.wait()
