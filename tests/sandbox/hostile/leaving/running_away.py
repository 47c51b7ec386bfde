# what: leaves chains of processes each of which forks the next and dies, to slip through a sweep
# verdict: passed
import os

for _ in range(6):
    try:
        child = os.fork()
    except OSError:  # the chains before it have taken every process that the limit allows
        break
    if child == 0:
        os.setsid()
        while True:
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                pass


def double(x):
    return 2 * x
