# what: sends its answer so slowly that it is never quite idle
# verdict: timeout
import os
import struct
import time

BODY = b'{"value": 4' + b" " * 500 + b"}"


def double(x):
    for byte in struct.pack(">I", len(BODY)) + BODY:
        for handle in range(3, 64):
            try:
                os.write(handle, bytes([byte]))
            except OSError:
                pass
        time.sleep(0.4)
    return 4
