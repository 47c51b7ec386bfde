# what: sends itself SIGKILL, which looks like an out-of-memory kill and is none
# verdict: runtime_error
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGKILL)
