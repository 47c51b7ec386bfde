# what: looks for interfaces and routes besides loopback
# problem: double
# verdict: passed
import socket

reached = [name for _, name in socket.if_nameindex() if name.startswith(("eth", "ens", "enp", "wlan", "veth", "docker", "br-"))]
for path in ("/proc/net/route", "/proc/net/arp"):
    try:
        with open(path) as file:
            reached += [line.strip() for line in file.readlines()[1:] if line.strip()]
    except OSError:
        pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
