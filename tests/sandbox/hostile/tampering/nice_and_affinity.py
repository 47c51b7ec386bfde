# what: makes itself slow, idle and bound to one core, and answers right
# problem: double
# verdict: passed
import os

os.nice(19)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def double(x):
    return 2 * x
