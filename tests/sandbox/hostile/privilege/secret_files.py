# what: reads files that only root or the host should read
# probe: yes
import os

reached = []
for path in (
    "/etc/shadow", "/etc/gshadow", "/root", "/root/.ssh/id_rsa", "/root/.bash_history", "/run/secrets",
    "/var/run/secrets/kubernetes.io/serviceaccount/token", "/host", "/work", "/proc/1/environ", "/etc/docker/key.json",
):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
        reached.append(path)
    except OSError:
        pass
