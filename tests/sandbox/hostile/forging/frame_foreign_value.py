# what: sends a reply with a value of a type that no encoding has
# problem: double
# verdict: wrong|runtime_error
import os
import struct

BODY = b'{"value": {"a": 1}}'


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(BODY)) + BODY)
        except OSError:
            pass
    return 5
