# what: calls the C library
# problem: double
# verdict: passed
import ctypes

libc = ctypes.CDLL(None)


def double(x):
    return 2 * libc.abs(x) * (1 if x >= 0 else -1) if abs(x) < 2**31 else x << 1
