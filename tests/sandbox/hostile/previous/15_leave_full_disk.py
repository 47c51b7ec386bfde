# what: fills all space and all inodes of what it may write to, with folders that nobody may enter
# verdict: wrong
import os

try:
    for place in range(10):
        with open(f"/tmp/nel-left-{place}", "wb") as file:
            for _ in range(20):
                file.write(bytes(1 << 20))
except OSError:
    pass
try:
    os.mkdir("/tmp/nel-left-many")
    for place in range(100_000):
        os.mkdir(f"/tmp/nel-left-many/{place}", 0)
except OSError:
    pass
for folder in ("/tmp/nel-left-many", "."):
    try:
        os.chmod(folder, 0)
    except OSError:
        pass


def double(x):
    return None
