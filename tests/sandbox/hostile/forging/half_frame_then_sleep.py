# what: announces a hundred bytes, sends ten and sleeps
# verdict: timeout
import os
import struct
import time


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", 100) + b'{"value": ')
        except OSError:
            pass
    time.sleep(600)
