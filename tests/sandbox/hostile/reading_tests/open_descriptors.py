# what: reads every descriptor it was given besides the standard ones, and peeks into its sockets
# verdict: passed
import os
import re
import socket
import stat

MARKER = re.compile(rb"expected-side-(\d{10})|assert candidate")


def leaks():
    for entry in os.listdir("/proc/self/fd"):
        handle = int(entry)
        try:
            kind = os.fstat(handle).st_mode
            where = os.readlink("/proc/self/fd/" + entry)
        except OSError:
            continue
        if handle < 3:
            continue
        if stat.S_ISSOCK(kind):
            peer = socket.socket(fileno=os.dup(handle))
            try:
                data = peer.recv(1 << 20, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            except OSError:
                data = b""
            peer.close()
        elif stat.S_ISREG(kind):
            data = os.pread(handle, 1 << 22, 0)
        else:
            data = b""
        if MARKER.search(data) or "memfd" in where:
            yield f"{handle} -> {where}"


at_import = list(leaks())


def double(x):
    found = at_import + list(leaks())
    if found:
        raise RuntimeError("reached: " + "; ".join(found))
    return 2 * x
