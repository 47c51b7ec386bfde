# what: terminates, stops and kills every process it may signal in the middle of a call, and answers wrong
# verdict: wrong|runtime_error
import os
import signal


def double(x):
    for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:
            pass
        try:
            os.kill(-1, number)
        except OSError:
            pass
    return x
