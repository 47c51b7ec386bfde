# what: connects to where the program before may listen, and to every abstract name the kernel lists
# probe: yes
import socket


def left():
    targets = [
        (socket.AF_UNIX, "\0nel-left"),
        (socket.AF_UNIX, "/tmp/nel-left.sock"),
        (socket.AF_INET, ("127.0.0.1", 47113)),
        (socket.AF_INET, ("127.0.0.1", 47114)),
        (socket.AF_INET6, ("::1", 47115)),
    ]
    try:
        with open("/proc/net/unix") as file:
            names = [line.split()[7] for line in file.readlines()[1:] if len(line.split()) > 7]
        targets += [(socket.AF_UNIX, "\0" + name[1:] if name.startswith("@") else name) for name in names]
    except OSError:
        pass
    for family, address in targets:
        try:
            with socket.socket(family) as client:
                client.settimeout(0.2)
                client.connect(address)
        except OSError:
            continue
        yield repr(address)


reached = list(left())
