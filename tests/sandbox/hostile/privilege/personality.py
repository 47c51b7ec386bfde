# what: makes all memory executable and its addresses those of another system
# problem: double
# verdict: passed
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
reached = []
for name, value in {"read implies exec": 0x0400000, "page zero": 0x0100000, "short inode": 0x1000000, "svr4": 0x4100001}.items():
    if libc.personality(value) >= 0:
        reached.append(name)
        libc.personality(0)


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
