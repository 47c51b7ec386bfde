# what: takes loopback down, adds a route and makes a tunnel
# problem: double
# verdict: passed
import fcntl
import os
import socket
import struct

reached = []
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    for what, number in (("flags", 0x8914), ("address", 0x8916), ("route", 0x890B), ("name", 0x8923)):
        try:
            fcntl.ioctl(client, number, struct.pack("16sH22x", b"lo", 0))
            reached.append(what)
        except OSError:
            pass
try:
    with socket.socket(16, socket.SOCK_RAW, 0) as link:
        link.settimeout(0.2)
        link.send(struct.pack("IHHIIBBHiII", 32, 16, 5, 1, 0, 0, 0, 0, 1, 0, 1))
        if struct.unpack("i", link.recv(4096)[16:20])[0] == 0:
            reached.append("link by netlink")
except OSError:
    pass
try:
    os.close(os.open("/dev/net/tun", os.O_RDWR))
    reached.append("tunnel")
except OSError:
    pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
