# what: a thread that never gives the interpreter back
# problem: double
# verdict: timeout
import sys
import threading

sys.setswitchinterval(10_000)


def spin():
    while True:
        pass


def double(x):
    threading.Thread(target=spin, daemon=True).start()
    return 2 * x
