# what: takes memory by malloc and fills it past the interpreter
# problem: double
# verdict: out_of_memory|runtime_error
import ctypes

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p


def double(x):
    while True:
        address = libc.malloc(ctypes.c_size_t(8 << 20))
        if not address:
            raise MemoryError
        ctypes.memset(address, 1, 8 << 20)
