# what: opens raw, packet, VM and other sockets of special kinds
# probe: yes
import socket

reached = []
for name, family, kind, protocol in (
    ("raw", socket.AF_INET, socket.SOCK_RAW, 1),
    ("raw 6", socket.AF_INET6, socket.SOCK_RAW, 58),
    ("packet", 17, socket.SOCK_RAW, 768),
    ("packet datagrams", 17, socket.SOCK_DGRAM, 768),
    ("virtual machine", 40, socket.SOCK_STREAM, 0),
    ("virtual machine datagrams", 40, socket.SOCK_DGRAM, 0),
    ("key management", 15, socket.SOCK_RAW, 2),
    ("express data path", 44, socket.SOCK_RAW, 0),
    ("bluetooth", 31, socket.SOCK_RAW, 1),
    ("controller area", 29, socket.SOCK_RAW, 1),
):
    try:
        socket.socket(family, kind, protocol).close()
        reached.append(name)
    except OSError:
        pass
