# what: sends a fraction with denominator zero, an impossible date and an endless range
# problem: double
# verdict: wrong|runtime_error
import os
import struct


def double(x):
    for body in (
        b'{"value": ["F", ["0x1", "0x0"]]}',
        b'{"value": ["T", ["date", "9999-99-99"]]}',
        b'{"value": ["r", ["0x0", "0x1", "0x0"]]}',
        b'{"value": ["c", ["x", "y"]]}',
        b'{"value": ["U", [1e308, 0, 0]]}',
    ):
        for handle in range(3, 64):
            try:
                os.write(handle, struct.pack(">I", len(body)) + body)
            except OSError:
                pass
    return 4
