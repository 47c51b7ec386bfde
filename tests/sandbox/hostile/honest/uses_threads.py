# what: uses threads, queues, locks and a pool
# problem: listy
# verdict: passed
import queue
import threading
from concurrent.futures import ThreadPoolExecutor


def evens(xs):
    results = queue.Queue()
    lock = threading.Lock()

    def look(pair):
        with lock:
            if pair[1] % 2 == 0:
                results.put(pair)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(look, enumerate(xs)))
    return [number for _, number in sorted(results.queue)]
