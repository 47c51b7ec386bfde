# what: sends a reply that makes the tests' own process raise SystemExit(0)
# problem: double
# verdict: wrong|runtime_error
import os
import struct

BODY = b'{"raised": {"type": "SystemExit", "kinds": ["SystemExit", "BaseException"], "args": [0], "text": "0"}}'


def double(x):
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(BODY)) + BODY)
        except OSError:
            pass
    return 5
