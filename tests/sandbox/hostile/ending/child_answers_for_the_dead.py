# what: a child keeps the channel open while the parent is gone, so that nobody sees an end of file
# verdict: runtime_error
import os
import time


def double(x):
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(60)
