# what: sends a reply with an exception made of wrong types
# problem: double
# verdict: wrong|runtime_error
import os
import struct

BODY = b'{"raised": {"type": [], "kinds": 7, "args": 1}}'


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(BODY)) + BODY)
        except OSError:
            pass
    return 5
