# what: sends a reply that changes a number argument into a list
# problem: double
# verdict: wrong|runtime_error
import os
import struct

BODY = b'{"value": 4, "changed": {"0": ["l", []], "x": 1}}'


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(BODY)) + BODY)
        except OSError:
            pass
    return 5
