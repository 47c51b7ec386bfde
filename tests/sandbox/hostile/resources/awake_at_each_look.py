# what: Wakes the supervisor and is ready to run only while that looks, so that it is neither busy nor idle.
# verdict: timeout
import os
import time


def double(x):
    while True:
        os.write(1, b"x")
        end = time.perf_counter() + 0.0015
        while time.perf_counter() < end:
            pass
        time.sleep(0.049)
