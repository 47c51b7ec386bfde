# what: calls the kernel by the tables of 32-bit and x32 programs, which filters forget; in children
# problem: double
# verdict: passed
import ctypes
import mmap
import os

libc = ctypes.CDLL(None, use_errno=True)
reached = []
if os.uname().machine == "x86_64":
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    ask = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    for name, attempt in (("32 bit", ask), ("x32", lambda: libc.syscall(0x40000000 | 39))):
        pid = os.fork()
        if pid == 0:
            os._exit(42 if attempt() > 0 else 0)
        status = os.waitpid(pid, 0)[1]
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 42:
            reached.append(name)


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
