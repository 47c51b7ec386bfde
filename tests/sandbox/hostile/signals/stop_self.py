# what: stops itself, to be neither running nor ended
# verdict: timeout
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)
    return 2 * x
