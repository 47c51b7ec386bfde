# what: claims that its call changed the tests' own values into what it answers, in all kinds of wrong types
# problem: in_place
# verdict: wrong|runtime_error
import os
import struct


def drop_odds(xs):
    body = b'{"value": null, "changed": {"0": ["d", [[1, 2]]], "-1": 5, "9": ["l", []], "x": []}}'
    for handle in range(3, 64):
        try:
            os.write(handle, struct.pack(">I", len(body)) + body)
        except OSError:
            pass
