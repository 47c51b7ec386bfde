# what: leaves thirty dead children that nobody waited for
# problem: double
# verdict: passed
import os

for _ in range(30):
    if os.fork() == 0:
        os._exit(0)


def double(x):
    return 2 * x
