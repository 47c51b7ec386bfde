# what: starts threads until the system refuses, each with a stack
# verdict: runtime_error|timeout|out_of_memory
import threading
import time


def double(x):
    while True:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
