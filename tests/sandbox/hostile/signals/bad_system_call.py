# what: sends itself SIGSYS, as a filter of system calls would
# problem: double
# verdict: runtime_error
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGSYS)
