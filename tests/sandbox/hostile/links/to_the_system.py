# what: leaves symbolic links to the root, the system's files and other processes
# verdict: passed
import os

for folder in (".", "/tmp", "/dev/shm"):
    for place, target in enumerate(("/", "/etc", "/etc/passwd", "/usr", "/proc/1/root", "/proc/self/cwd", "..", "/dev/zero")):
        try:
            os.symlink(target, f"{folder}/link-{place}")
        except OSError:
            pass


def double(x):
    return 2 * x
