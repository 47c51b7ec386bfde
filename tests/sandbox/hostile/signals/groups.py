# what: signals the process groups of others; answers right if every one is refused
# problem: double
# verdict: passed
import os
import signal

reached = []
for entry in os.listdir("/proc"):
    if not entry.isdigit():
        continue
    try:
        group = os.getpgid(int(entry))
        if group not in (0, 1, os.getpgrp()):  # 1 means everybody to kill(2), and succeeds without reaching any
            os.killpg(group, signal.SIGSTOP)
            reached.append(group)
    except OSError:
        pass


def double(x):
    if reached:
        raise RuntimeError(f"reached: {reached}")
    return 2 * x
