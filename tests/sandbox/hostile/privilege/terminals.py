# what: types into the terminals of others and takes a controlling terminal
# problem: double
# verdict: passed
import fcntl
import os
import termios

reached = []
for path in ("/dev/tty", "/dev/console", "/dev/tty0", "/dev/pts/0", "/dev/pts/1", "/proc/1/fd/0"):
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        continue
    reached.append(path)
    try:
        fcntl.ioctl(handle, termios.TIOCSTI, b"x")
        reached.append(path + " typed")
    except OSError:
        pass
for handle in range(3):
    try:
        fcntl.ioctl(handle, termios.TIOCSTI, b"x")
        reached.append(f"typed into {handle}")
    except OSError:
        pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
