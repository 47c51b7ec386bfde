# what: fills System V shared memory, which no process owns
# verdict: runtime_error|out_of_memory
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p


def double(x):
    for _ in range(100_000):
        segment = libc.shmget(0, 16 << 20, 0o1600)
        address = libc.shmat(segment, None, 0) if segment >= 0 else -1
        if segment < 0 or address in (None, ctypes.c_void_p(-1).value):
            raise RuntimeError("refused")
        ctypes.memset(address, 1, 16 << 20)
    return 2 * x
