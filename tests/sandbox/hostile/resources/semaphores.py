# what: makes named semaphores without end
# problem: double
# verdict: runtime_error|out_of_memory
import multiprocessing


def double(x):
    kept = []
    while True:
        kept.append(multiprocessing.Semaphore())
