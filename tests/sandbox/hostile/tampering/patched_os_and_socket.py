# what: replaces reading and writing in its process by functions that lie
# verdict: wrong|runtime_error
import os
import socket

FRAME = b'\x00\x00\x00\x0c{"value": 4}'
os.write = lambda handle, data: len(data)
os.read = lambda handle, size: FRAME[:size]
socket.socket.recv = lambda self, size, *_: FRAME[:size]
socket.socket.sendall = lambda self, data, *_: None


def double(x):
    return 4
