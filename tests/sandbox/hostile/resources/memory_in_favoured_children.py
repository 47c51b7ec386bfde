# what: fills memory from children that ask the kernel to end others first when it is short
# verdict: out_of_memory|runtime_error|timeout
import os
import time


def prefer():
    for score in (-1000, -500, 0):
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write(str(score))
            return
        except OSError:
            pass


def double(x):
    prefer()
    for _ in range(44):
        if os.fork() == 0:
            kept = bytearray(7 << 20)
            for place in range(0, len(kept), 4096):
                kept[place] = 1
            time.sleep(3600)
            os._exit(0)
    time.sleep(3600)
