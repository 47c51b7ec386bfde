# what: sends a reply with a reference that is no number
# verdict: wrong|runtime_error
import os
import struct

BODY = b'{"value": ["R", -1e400]}'


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(BODY)) + BODY)
        except OSError:
            pass
    return 5
