# what: opens the POSIX objects of the program before and lists where they live
# problem: double
# verdict: passed
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
try:
    rt = ctypes.CDLL("librt.so.1", use_errno=True)
except OSError:
    rt = libc
libc.sem_open.restype = ctypes.c_void_p


def left():
    for place in range(4):
        name = b"/nel-left-%d" % place
        if libc.shm_open(name, os.O_RDWR, 0) >= 0:
            yield f"memory {place}"
        if libc.sem_open(name, 0):
            yield f"semaphore {place}"
        if getattr(rt, "mq_open", libc.mq_open)(name, os.O_RDONLY) >= 0:
            yield f"queue {place}"
    for folder in ("/dev/shm", "/dev/mqueue"):
        if os.path.isdir(folder) and os.access(folder, os.R_OK):
            yield from (f"{folder}/{name}" for name in os.listdir(folder) if "nel-left" in name)


found = list(left())


def double(x):
    if found:
        raise RuntimeError("reached: " + "; ".join(found))
    return 2 * x
