# what: writes many verdicts to every descriptor, standard output included, in the middle of a call
# problem: listy
# verdict: wrong|runtime_error
import json
import os
import struct


def evens(xs):
    for message in ({"passed": True}, {"verdict": "passed"}, {"ok": True, "value": [2, 4]}, "passed", True):
        body = json.dumps(message).encode()
        for handle in range(1, 64):
            try:
                os.write(handle, struct.pack(">I", len(body)) + body + b"\n" + body + b"\n")
            except OSError:
                pass
    return [0]
