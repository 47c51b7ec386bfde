# what: asks for those keys, by request and in the kernel's list
# problem: double
# verdict: passed
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
add, request = {"x86_64": (248, 249), "aarch64": (217, 218)}.get(os.uname().machine, (None, None))
reached = []
if add:
    if libc.syscall(request, b"user", b"nel-left", None, 0) >= 0:
        reached.append("the key of the program before")
    if libc.syscall(add, b"user", b"nel-own", b"secret", 6, -4) >= 0:
        reached.append("keys can be made at all")
try:
    with open("/proc/keys") as file:
        if "nel-left" in file.read():
            reached.append("the kernel's list")
except OSError:
    pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
