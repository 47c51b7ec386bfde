# what: sends SIGKILL to each process of others; answers right if every one is refused
# problem: double
# verdict: passed
import os
import signal

reached = []
for entry in os.listdir("/proc"):
    if entry.isdigit() and int(entry) != os.getpid():
        for number in (signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(int(entry), number)
                reached.append(f"{number} to {entry}")
            except OSError:
                pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
