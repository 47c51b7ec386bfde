# what: leaves children that are stopped and ignore every signal
# problem: double
# verdict: passed
import os
import signal
import time

for _ in range(5):
    if os.fork() == 0:
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)
        os._exit(0)


def double(x):
    return 2 * x
