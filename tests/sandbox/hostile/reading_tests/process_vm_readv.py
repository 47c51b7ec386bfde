# what: asks the kernel for the memory of every other process
# problem: double
# verdict: passed
import ctypes
import os


class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 310, "aarch64": 270}.get(os.uname().machine)


def others():
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and int(entry) != os.getpid() and os.stat("/proc/" + entry).st_uid != os.getuid():
                yield int(entry)
        except OSError:
            pass


def reached(pid):
    buffer = ctypes.create_string_buffer(16)
    local = Span(ctypes.addressof(buffer), 16)
    remote = Span(id(None), 16)
    got = libc.syscall(number, pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return got > 0 or ctypes.get_errno() == 14


def double(x):
    for pid in {1, os.getppid(), *others()}:
        if number and reached(pid):
            raise RuntimeError(f"reached: memory of {pid}")
    return 2 * x
