# what: compares its descriptors with those of other processes, to learn what they hold
# problem: double
# verdict: passed
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 312, "aarch64": 272}.get(os.uname().machine)


def others():
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and int(entry) != os.getpid() and os.stat("/proc/" + entry).st_uid != os.getuid():
                yield int(entry)
        except OSError:
            pass


def double(x):
    for pid in others():
        if number and libc.syscall(number, os.getpid(), pid, 0, 1, 1) >= 0:
            raise RuntimeError(f"reached: kcmp with {pid}")
    return 2 * x
