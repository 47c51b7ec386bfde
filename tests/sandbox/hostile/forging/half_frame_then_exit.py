# what: announces a hundred bytes, sends ten and leaves
# problem: double
# verdict: runtime_error
import os
import struct


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", 100) + b'{"value": ')
        except OSError:
            pass
    os._exit(0)
