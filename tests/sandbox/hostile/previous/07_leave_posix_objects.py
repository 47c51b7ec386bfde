# what: leaves POSIX shared memory, named semaphores and message queues
# problem: double
# verdict: wrong
import ctypes
import mmap
import os

libc = ctypes.CDLL(None, use_errno=True)
try:
    rt = ctypes.CDLL("librt.so.1", use_errno=True)
except OSError:
    rt = libc
libc.sem_open.restype = ctypes.c_void_p
for place in range(4):
    handle = libc.shm_open(b"/nel-left-%d" % place, os.O_CREAT | os.O_RDWR, 0o666)
    if handle >= 0:
        os.ftruncate(handle, 4096)
        mmap.mmap(handle, 4096)[:8] = b"nel-left"
    libc.sem_open(b"/nel-left-%d" % place, os.O_CREAT, 0o666, 1)
    getattr(rt, "mq_open", libc.mq_open)(b"/nel-left-%d" % place, os.O_CREAT | os.O_RDWR, 0o666, None)


def double(x):
    return None
