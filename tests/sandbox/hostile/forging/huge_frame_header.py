# what: announces a frame of four gigabytes
# verdict: wrong|runtime_error|timeout|output_limit
import os


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, b"\xff\xff\xff\xff" + b" " * 1000)
        except OSError:
            pass
    return 4
