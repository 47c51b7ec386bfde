# what: leaves folders without any rights, with files, and takes the rights from its own
# verdict: passed
import os

for folder in (".", "/tmp"):
    for place in range(5):
        path = f"{folder}/sealed-{place}"
        try:
            os.makedirs(path + "/inner/inner")
            open(path + "/inner/file", "w").close()
            os.chmod(path + "/inner", 0)
            os.chmod(path, 0o1000)
        except OSError:
            pass
os.chmod(".", 0)


def double(x):
    return 2 * x
