# what: connects to every abstract socket that the kernel lists and to those of known services
# problem: double
# verdict: passed
import socket

reached = []
names = ["/containerd-shim/moby", "/tmp/.X11-unix/X0", "nel", "agent", "/org/freedesktop/systemd1/notify"]
try:
    with open("/proc/net/unix") as file:
        names += [line.split()[7][1:] for line in file.readlines()[1:] if len(line.split()) > 7 and line.split()[7][0] == "@"]
except OSError:
    pass
for name in names:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            with socket.socket(socket.AF_UNIX, kind) as client:
                client.settimeout(0.1)
                client.connect("\0" + name)
            reached.append(name)
        except OSError:
            pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
