# what: sends signals to other processes by the less known ways: process descriptors and queues
# problem: double
# verdict: passed
import ctypes
import os
import signal


def others():
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and int(entry) != os.getpid() and os.stat("/proc/" + entry).st_uid != os.getuid():
                yield int(entry)
        except OSError:
            pass


libc = ctypes.CDLL(None, use_errno=True)
reached = []
for pid in others():
    handle = libc.syscall(434, pid, 0)
    if handle >= 0:
        try:
            signal.pidfd_send_signal(handle, signal.SIGUSR1)
            reached.append(f"pidfd of {pid}")
        except OSError:
            pass
        os.close(handle)
    if libc.sigqueue(pid, signal.SIGUSR1, None) == 0:
        reached.append(f"queue of {pid}")


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
