# what: becomes debugger of the zygote and of process 1 by every request, and of programs it starts
# probe: yes
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
reached = []
for pid in {1, os.getppid()}:
    for request in (16, 0x4206, 0x420E):
        if libc.ptrace(request, pid, None, None) >= 0:
            reached.append(f"{request:#x} {pid}")
    try:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
        reached.append(f"memory of {pid}")
    except OSError:
        pass
