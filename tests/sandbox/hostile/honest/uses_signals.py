# what: sets an alarm as a time limit of its own
# problem: double
# verdict: passed
import signal


def late(*_):
    raise TimeoutError


def double(x):
    signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    try:
        return 2 * x
    finally:
        signal.alarm(0)
