# what: answers right, but another thread ends the process before the first answer is out
# problem: double
# verdict: runtime_error
import os
import threading
import time

threading.Timer(0.05, os._exit, (0,)).start()


def double(x):
    time.sleep(0.4)
    return 2 * x
