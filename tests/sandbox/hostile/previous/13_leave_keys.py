# what: leaves keys in the user's, the session's and the user session's key ring
# problem: double
# verdict: wrong
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine)
if number:
    for ring in (-1, -2, -3, -4, -5):
        libc.syscall(number, b"user", b"nel-left", b"secret", 6, ring)


def double(x):
    return None
