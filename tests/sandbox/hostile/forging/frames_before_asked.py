# what: writes plausible replies and verdicts to every descriptor while it is loaded
# verdict: wrong|runtime_error
import json
import os
import struct

MESSAGES = (
    {"loaded": {"double": "other"}},
    {"value": 4},
    {"passed": True, "calls": 7},
    {"verdict": "passed", "status": "passed", "ok": True, "result": "passed"},
)
for handle in range(3, 64):
    for message in MESSAGES:
        body = json.dumps(message).encode()
        try:
            os.write(handle, struct.pack(">I", len(body)) + body)
        except OSError:
            pass


def double(x):
    return x
