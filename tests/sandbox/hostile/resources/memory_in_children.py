# what: lets forty children take ten megabytes each, so that none of them is large
# problem: double
# verdict: out_of_memory|runtime_error|timeout
import os
import time


def double(x):
    for _ in range(40):
        if os.fork() == 0:
            kept = bytearray(10 << 20)
            for place in range(0, len(kept), 4096):
                kept[place] = 1
            time.sleep(3600)
            os._exit(0)
    time.sleep(3600)
