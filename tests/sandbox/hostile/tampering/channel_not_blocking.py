# what: makes every descriptor non-blocking, so that the harness reads errors, and answers wrong
# problem: double
# verdict: wrong|runtime_error
import os

for handle in range(0, 64):
    try:
        os.set_blocking(handle, False)
    except OSError:
        pass


def double(x):
    return x
