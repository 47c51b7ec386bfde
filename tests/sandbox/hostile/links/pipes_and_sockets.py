# what: leaves named pipes and sockets, at which a careless reader waits for ever
# problem: double
# verdict: passed
import os
import socket

for name in ("result.json", "stdout", "stderr", "verdict", "pipe"):
    try:
        os.mkfifo(name)
    except OSError:
        pass
socket.socket(socket.AF_UNIX).bind("socket")


def double(x):
    return 2 * x
