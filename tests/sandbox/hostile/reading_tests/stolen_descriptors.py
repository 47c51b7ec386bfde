# what: takes descriptors out of other processes by pidfd_getfd
# probe: yes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def reached():
    for pid in [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]:
        if pid == os.getpid():
            continue
        handle = libc.syscall(434, pid, 0)
        if handle < 0:
            continue
        for number in range(32):
            if libc.syscall(438, handle, number, 0) >= 0:
                yield f"descriptor {number} of {pid}"
        os.close(handle)
