# what: locks all its memory in place and grows
# problem: double
# verdict: out_of_memory|runtime_error
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    libc.mlockall(7)
    kept = []
    while True:
        kept.append(bytearray(4 << 20))
