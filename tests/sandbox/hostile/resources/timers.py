# what: makes timers without end
# problem: double
# verdict: runtime_error|timeout|out_of_memory
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 222, "aarch64": 107}[os.uname().machine]


def double(x):
    identity = ctypes.c_int()
    while True:
        if libc.syscall(number, 1, None, ctypes.byref(identity)) < 0:
            raise RuntimeError("refused")
