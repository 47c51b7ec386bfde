# what: lets children print without end, while the program answers right
# problem: double
# verdict: output_limit
import os
import time

for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            os.write(1, bytes(65536))


def double(x):
    time.sleep(0.3)
    return 2 * x
