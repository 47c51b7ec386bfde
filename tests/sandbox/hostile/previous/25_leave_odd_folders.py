# what: leaves trees that are hard to remove: deep, sticky, unreadable, oddly named, full of links out
# problem: double
# verdict: wrong
import os

os.chdir("/tmp")
try:
    os.mkdir("nel-left-deep")
    os.chdir("nel-left-deep")
    for _ in range(1500):
        os.mkdir("d" * 20)
        os.chdir("d" * 20)
    os.close(os.open("bottom", os.O_CREAT))
except OSError:
    pass
os.chdir("/tmp")
for name in (b"nel-left-\n", b"nel-left-\xff\xfe", b"-rf", b"nel-left *", b"nel-left-" + b"x" * 246):
    try:
        os.mkdir(name, 0o1777)
        os.symlink(b"/usr", name + b"/out") if len(name) < 200 else None
        os.chmod(name, 0o1000)
    except OSError:
        pass
for name in ("nel-left-fifo", "nel-left-pipe"):
    os.mkfifo("/tmp/" + name)


def double(x):
    return None
