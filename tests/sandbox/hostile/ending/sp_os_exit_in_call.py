# what: ends the common process with status 0 in the middle of the tests
# mode: shared
# problem: double
# verdict: runtime_error
import os
import sys


def double(x):
    print("OK\nTEST_PASSED\n{\"passed\": true}", flush=True)
    sys.stdout.flush()
    os._exit(0)
