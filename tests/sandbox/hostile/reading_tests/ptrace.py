# what: tries to become the debugger of every other process, by both ways of attaching
# probe: yes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
ATTACH, SEIZE = 16, 0x4206


def reached():
    for pid in [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]:
        if pid == os.getpid():
            continue
        for way in (SEIZE, ATTACH):
            if libc.ptrace(way, pid, None, None) == 0:
                yield f"{way} {pid}"
