# what: a handler raises in the middle of the harness's own work between two calls
# verdict: runtime_error|wrong
import signal


def leave(*_):
    raise SystemExit(0)


signal.signal(signal.SIGALRM, leave)


def double(x):
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    return x
