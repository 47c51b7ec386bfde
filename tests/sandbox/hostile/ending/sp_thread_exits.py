# what: a thread ends the common process with status 0 while the tests wait
# mode: shared
# problem: double
# verdict: runtime_error
import os
import threading
import time

threading.Timer(0.05, os._exit, (0,)).start()


def double(x):
    time.sleep(0.5)
    return 2 * x
