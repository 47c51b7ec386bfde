# what: leaves files whose names are line breaks, options, patterns, invalid text and too long for most
# verdict: passed
import os

NAMES = [b"\n", b"-rf", b"--", b"*", b"$(id)", b"`id`", b";id", b"\xff\xfe", b"x" * 255, "\u202e\u0000".encode()[:3], b" ", b"\\"]
for folder in (b".", b"/tmp", b"/dev/shm"):
    for name in NAMES:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_WRONLY, 0))
        except OSError:
            pass


def double(x):
    return 2 * x
