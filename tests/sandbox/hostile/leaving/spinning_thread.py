# what: answers right beside a thread that never ends
# problem: double
# verdict: passed
import threading


def spin():
    while True:
        pass


threading.Thread(target=spin, daemon=True).start()


def double(x):
    return 2 * x
