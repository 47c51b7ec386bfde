# what: the same by clone and clone3, in children
# problem: double
# verdict: passed
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
clone = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine)
reached = []
for flag in (0x10000000, 0x10020000, 0x40000000, 0x20000000):
    if clone:
        pid = libc.syscall(clone, ctypes.c_ulong(flag | 17), None, None, None, None)
        if pid == 0:
            os._exit(0)
        if pid > 0:
            os.waitpid(pid, 0)
            reached.append(f"clone {flag:x}")
    pid = libc.syscall(435, struct.pack("11Q", flag, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), ctypes.c_size_t(88))
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
        reached.append(f"clone3 {flag:x}")


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
