# what: answers wrong, prints success when the process ends and ends it with status 0
# mode: shared
# verdict: wrong|runtime_error
import atexit
import os


def double(x):
    return x


@atexit.register
def leave():
    print("passed", flush=True)
    os._exit(0)
