# what: forks until the kernel refuses
# problem: double
# verdict: runtime_error|timeout|out_of_memory
import os
import time


def double(x):
    while True:
        if os.fork() == 0:
            time.sleep(3600)
