# what: takes questions from the channel itself and answers them in the harness's place, wrongly
# problem: double
# verdict: wrong|runtime_error
import json
import os
import stat
import struct


def sockets():
    for handle in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                yield handle
        except OSError:
            pass


def double(x):
    body = json.dumps({"value": 4}).encode()
    for handle in sockets():
        os.write(handle, struct.pack(">I", len(body)) + body)
        for _ in range(20):
            header = os.read(handle, 4)
            if len(header) < 4:
                os._exit(0)
            os.read(handle, struct.unpack(">I", header)[0])
            os.write(handle, struct.pack(">I", len(body)) + body)
    return 4
