# what: Sixty threads that wake up at once and do next to nothing: each waits for the others and for nothing else.
# verdict: timeout | runtime_error
import threading
import time


def work():
    while True:
        time.sleep(0.05 - time.time() % 0.05)
        end = time.perf_counter() + 0.00002
        while time.perf_counter() < end:
            pass


def double(x):
    for _ in range(30):
        threading.Thread(target=work, daemon=True).start()
    work()
