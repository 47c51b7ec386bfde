# what: runs for ever and catches whatever is thrown at it
# problem: double
# verdict: timeout
import signal


def double(x):
    signal.signal(signal.SIGXCPU, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: None)
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
