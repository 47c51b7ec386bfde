# what: sends JSON nested a million deep, which ends careless parsers
# verdict: wrong|runtime_error
import os
import struct

BODY = b'{"value": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"


def double(x):
    for handle in range(3, 64):
        view = memoryview(struct.pack(">I", len(BODY)) + BODY)
        try:
            while view:
                view = view[os.write(handle, view) :]
        except OSError:
            pass
    return 4
