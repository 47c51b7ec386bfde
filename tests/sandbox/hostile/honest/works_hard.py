# what: works for more than a second
# problem: double
# verdict: passed
import time

until = time.process_time() + 1.2
while time.process_time() < until:
    pass


def double(x):
    return 2 * x
