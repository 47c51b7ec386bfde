# what: sends itself a signal that nobody handles
# problem: double
# verdict: runtime_error
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGRTMIN + 3)
