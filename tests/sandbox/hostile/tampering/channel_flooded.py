# what: writes into the channel without ever reading, until the other end has no room
# verdict: wrong|runtime_error|timeout|out_of_memory
import os
import struct

BODY = b'{"value": 4' + b" " * 60_000 + b"}"


def double(x):
    while True:
        for handle in range(3, 64):
            try:
                os.write(handle, struct.pack(">I", len(BODY)) + BODY)
            except OSError:
                pass
