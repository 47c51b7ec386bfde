# what: leaves as many empty files as it may, and answers right
# problem: double
# verdict: passed
import os

try:
    for place in range(10_000):
        os.close(os.open(f"file-{place}", os.O_CREAT))
except OSError:
    pass


def double(x):
    return 2 * x
