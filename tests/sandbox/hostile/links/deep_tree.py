# what: leaves folders nested two thousand deep, longer than any path may be
# verdict: passed
import os

here = os.getcwd()
for _ in range(2000):
    os.mkdir("deeper" * 10)
    os.chdir("deeper" * 10)
os.chdir("/")


def double(x):
    return 2 * x
