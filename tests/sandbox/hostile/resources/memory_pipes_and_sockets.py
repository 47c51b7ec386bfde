# what: fills the kernel's buffers of pipes and socket pairs
# problem: double
# verdict: runtime_error|out_of_memory|timeout
import os
import socket


def double(x):
    kept = []
    while True:
        ends = socket.socketpair()
        ends[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
        ends[0].setblocking(False)
        pipe = os.pipe()
        os.set_blocking(pipe[1], False)
        kept.append((ends, pipe))
        try:
            while True:
                ends[0].send(bytes(1 << 16))
        except BlockingIOError:
            pass
        try:
            while True:
                os.write(pipe[1], bytes(1 << 16))
        except BlockingIOError:
            pass
