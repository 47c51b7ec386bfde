# what: spends its time in the kernel
# problem: double
# verdict: timeout
import os


def double(x):
    while True:
        os.getppid()
        os.stat("/")
