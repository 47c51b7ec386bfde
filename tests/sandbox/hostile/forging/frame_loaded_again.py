# what: sends a reply that says a second time that it is loaded
# problem: double
# verdict: wrong|runtime_error
import os
import struct

BODY = b'{"loaded": {"double": "exception", "check": "other"}}'


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(BODY)) + BODY)
        except OSError:
            pass
    return 5
