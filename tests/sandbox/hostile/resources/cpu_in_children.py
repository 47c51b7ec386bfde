# what: burns the core in children, each within its own limit, and waits for them
# problem: double
# verdict: timeout
import os


def double(x):
    for _ in range(8):
        if os.fork() == 0:
            while True:
                pass
    while True:
        os.wait()
