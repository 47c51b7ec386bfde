# what: raises an exception whose text, arguments and traceback are traps
# verdict: runtime_error
import os


class Trap(Exception):
    def __str__(self):
        os._exit(0)

    __repr__ = __str__

    @property
    def __traceback__(self):
        raise SystemExit(0)

    args = property(lambda self: [self] * 10**6)


def double(x):
    raise Trap
