# what: sleeps in short pieces with a little work between, so that it is never idle for long
# verdict: timeout
import time


def double(x):
    while True:
        sum(range(1000))
        time.sleep(0.05)
