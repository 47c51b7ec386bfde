# what: kills everything in reach from the common process, itself last
# mode: shared
# verdict: runtime_error
import os


def double(x):
    try:
        os.kill(-1, 9)
    except OSError:
        pass
    os.kill(os.getpid(), 9)
