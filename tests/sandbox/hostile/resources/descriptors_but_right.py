# what: uses up all descriptors and answers right
# verdict: passed
import os

kept = []
try:
    while True:
        kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass


def double(x):
    return 2 * x
