# what: lowers the priority, affinity and I/O class of other processes; answers right if that is refused
# problem: double
# verdict: passed
import os


def others():
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and int(entry) != os.getpid() and os.stat("/proc/" + entry).st_uid != os.getuid():
                yield int(entry)
        except OSError:
            pass


reached = []
for pid in others():
    for what, attempt in (
        ("priority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)),
        ("affinity", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid))),
        ("policy", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))),
    ):
        try:
            attempt()
        except OSError:
            continue
        reached.append(f"{what} of {pid}")


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
