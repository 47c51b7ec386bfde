# what: uses a pool of processes
# problem: listy
# verdict: passed
import multiprocessing

pool = None


def is_even(number):
    return number % 2 == 0


def evens(xs):
    global pool
    if pool is None:
        pool = multiprocessing.get_context("fork").Pool(2)
    return [number for number, even in zip(xs, pool.map(is_even, xs)) if even]
