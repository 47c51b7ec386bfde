# what: looks for anything it may write besides its temporary places and harmless devices
# probe: yes
import os

TEMPORARY = ("/tmp", "/dev/shm", "/dev/mqueue", "/proc", "/sys/fs/cgroup", os.getcwd())
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts")
reached = []
for folder, folders, names in os.walk("/"):
    if folder == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys")]
    folders[:] = [name for name in folders if not os.path.join(folder, name).startswith(TEMPORARY)]
    if folder.startswith(("/usr/share", "/usr/lib/python3/dist-packages")):
        folders.clear()
    if os.access(folder, os.W_OK):
        reached.append(folder)
    for name in names:
        path = os.path.join(folder, name)
        if not path.startswith(DEVICES) and not os.path.islink(path) and os.access(path, os.W_OK):
            reached.append(path)
