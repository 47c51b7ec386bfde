# what: sends a reply that is JSON null
# problem: double
# verdict: wrong|runtime_error
import os
import struct

BODY = b'null'


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(BODY)) + BODY)
        except OSError:
            pass
    return 5
