# what: opens and makes devices
# probe: yes
import os
import stat

HARMLESS = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console", "stdin", "stdout", "stderr", "fd", "core"}
reached = []
for folder, folders, names in os.walk("/dev"):
    for name in names:
        path = os.path.join(folder, name)
        if name in HARMLESS or folder.startswith(("/dev/pts", "/dev/shm", "/dev/mqueue")):
            continue
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            reached.append(path)
        except OSError:
            pass
for major, minor, kind in ((1, 1, stat.S_IFCHR), (1, 11, stat.S_IFCHR), (8, 0, stat.S_IFBLK), (254, 0, stat.S_IFBLK)):
    try:
        os.mknod("/tmp/device", kind | 0o666, os.makedev(major, minor))
        reached.append(f"device {major}:{minor}")
        os.unlink("/tmp/device")
    except OSError:
        pass
