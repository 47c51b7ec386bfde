# what: leaves a thread that is no daemon, for which an interpreter would wait at its end
# problem: double
# verdict: passed
import threading
import time

threading.Thread(target=time.sleep, args=(3600,)).start()


def double(x):
    return 2 * x
