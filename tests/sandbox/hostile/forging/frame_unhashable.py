# what: sends a set of lists and a dict with a list as key
# problem: counts
# verdict: wrong|runtime_error
import os
import struct


def letters(text):
    for body in (b'{"value": ["s", [["l", []]]]}', b'{"value": ["d", [[["l", []], 1]]]}'):
        for handle in range(3, 64):
            try:
                os.write(handle, struct.pack(">I", len(body)) + body)
            except OSError:
                pass
    return {}
