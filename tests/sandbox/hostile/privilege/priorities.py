# what: asks for real-time scheduling, a higher priority and protection from the out-of-memory killer
# problem: double
# verdict: passed
import ctypes
import os

reached = []
for name, attempt in (
    ("fifo", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
    ("round robin", lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))),
    ("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -10)),
    ("nice group", lambda: os.setpriority(os.PRIO_PGRP, 0, -10)),
    ("out of memory", lambda: open("/proc/self/oom_score_adj", "w", buffering=1).write("-1000\n")),
    ("out of memory, half", lambda: open("/proc/self/oom_score_adj", "w", buffering=1).write("-1\n")),
):
    try:
        attempt()
    except OSError:
        continue
    reached.append(name)
number = {"x86_64": 251, "aarch64": 30}.get(os.uname().machine)
if number and ctypes.CDLL(None, use_errno=True).syscall(number, 1, 0, 1 << 13) == 0:
    reached.append("real-time input and output")


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
