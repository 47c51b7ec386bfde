# what: sends a reply that is a bare number
# problem: double
# verdict: wrong|runtime_error
import os
import struct

BODY = b'4'


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(BODY)) + BODY)
        except OSError:
            pass
    return 5
