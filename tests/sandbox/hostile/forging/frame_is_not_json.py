# what: sends frames of bytes that are neither JSON nor UTF-8, and empty ones
# verdict: wrong|runtime_error
import os
import struct


def double(x):
    for body in (b"", b"\xff\xfe\x00", b"{", b"passed", b'{"value": NaN}', b'{"value": 4}{"value": 4}'):
        for handle in range(3, 64):
            try:
                os.write(handle, struct.pack(">I", len(body)) + body)
            except OSError:
                pass
    return 4
