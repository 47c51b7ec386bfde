# what: replaces everything that writes or reads JSON in its process by a constant
# problem: double
# verdict: wrong|runtime_error
import json

GOOD = '{"value": 4, "ok": true, "passed": true, "result": 4}'
json.dumps = lambda *_, **__: GOOD
json.dump = lambda thing, file, **_: file.write(GOOD)
json.JSONEncoder.encode = lambda self, thing: GOOD
json.JSONEncoder.iterencode = lambda self, thing, **_: iter([GOOD])
json.encoder.c_make_encoder = None


def double(x):
    return x
