# what: writes through links to its standard streams and to other descriptors, and answers right
# problem: double
# verdict: passed
import os

for place in range(3):
    os.symlink(f"/proc/self/fd/{place}", f"stream-{place}")
for name in ("stream-1", "stream-2", "/dev/stdout", "/dev/stderr"):
    with open(name, "w") as file:
        file.write("through a link\n")


def double(x):
    return 2 * x
