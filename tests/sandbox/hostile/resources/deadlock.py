# what: waits for a lock that it holds
# problem: double
# verdict: timeout
import threading

lock = threading.Lock()


def double(x):
    with lock, lock:
        return 2 * x
