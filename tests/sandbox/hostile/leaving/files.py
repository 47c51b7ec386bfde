# what: leaves a few hundred files in every place it may write to
# verdict: passed
import os

for folder in (".", "/tmp", "/dev/shm", os.environ.get("HOME", "."), os.environ.get("TMPDIR", ".")):
    for place in range(100):
        try:
            with open(os.path.join(folder, f"left-{place}"), "w") as file:
                file.write("x" * 100)
        except OSError:
            break


def double(x):
    return 2 * x
