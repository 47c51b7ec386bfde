# what: resolves names
# problem: double
# verdict: passed
import socket

reached = []
for name in ("example.com", "pypi.org", "host.docker.internal", "metadata.google.internal"):
    try:
        reached.append(f"{name}: {socket.getaddrinfo(name, 80)[0][4]}")
    except OSError:
        pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
