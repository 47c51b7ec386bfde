# what: looks for the container engine's sockets and for any socket file it could connect to
# probe: yes
import os
import socket
import stat

reached = []
paths = ["/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
         "/run/crio/crio.sock", "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/snapd.socket"]
for place in ("/run", "/var/run", "/tmp", "/mnt", "/host", "/"):
    for folder, folders, names in os.walk(place):
        if place == "/":
            folders.clear()
        for name in names:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISSOCK(os.lstat(path).st_mode):
                    paths.append(path)
            except OSError:
                pass
for path in paths:
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
        reached.append(path)
    except OSError:
        pass
