# what: connects to addresses of the internet, by both versions and both protocols
# probe: yes
import socket

reached = []
for family, address in (
    (socket.AF_INET, ("8.8.8.8", 53)),
    (socket.AF_INET, ("1.1.1.1", 443)),
    (socket.AF_INET6, ("2606:4700:4700::1111", 443)),
):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(family, kind) as client:
                client.settimeout(0.2)
                client.connect(address)
                client.send(b"x")
            reached.append(f"{address} {kind}")
        except OSError:
            pass
