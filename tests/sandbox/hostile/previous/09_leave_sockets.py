# what: leaves daemons that listen on abstract names, on a path and on loopback ports, and tell a secret
# verdict: wrong
import os
import socket
import time

if os.fork() == 0:
    os.setsid()
    listeners = []
    for family, address in (
        (socket.AF_UNIX, "\0nel-left"),
        (socket.AF_UNIX, "/tmp/nel-left.sock"),
        (socket.AF_INET, ("127.0.0.1", 47113)),
        (socket.AF_INET, ("0.0.0.0", 47114)),
        (socket.AF_INET6, ("::1", 47115)),
    ):
        try:
            listener = socket.socket(family)
            listener.bind(address)
            listener.listen()
            listeners.append(listener)
        except OSError:
            pass
    time.sleep(3600)
    os._exit(0)
time.sleep(0.2)


def double(x):
    return None
