# what: makes hard links to files of the system; answers right if that is refused
# problem: double
# verdict: passed
import os

reached = []
for target in ("/etc/passwd", "/etc/shadow", "/usr/bin/env", "/proc/self/exe", os.__file__):
    for folder in (".", "/tmp", "/dev/shm"):
        try:
            os.link(target, f"{folder}/hard")
            reached.append(f"{folder} -> {target}")
        except OSError:
            pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
