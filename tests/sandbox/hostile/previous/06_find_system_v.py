# what: looks for System V objects by their keys and in the kernel's lists
# probe: yes
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
KEY = 0x6E656C31


def left():
    for place in (*range(8), *range(100, 108)):
        if libc.shmget(KEY + place, 0, 0) >= 0:
            yield f"segment {place}"
        if libc.semget(KEY + place, 0, 0) >= 0:
            yield f"semaphores {place}"
        if libc.msgget(KEY + place, 0) >= 0:
            yield f"queue {place}"
    for name in ("shm", "sem", "msg"):
        try:
            with open("/proc/sysvipc/" + name) as file:
                yield from (f"{name}: {line.strip()}" for line in file.readlines()[1:])
        except OSError:
            pass


reached = list(left())
