# what: closes every descriptor while it is loaded
# verdict: runtime_error
import os

os.closerange(0, 4096)


def double(x):
    return 2 * x
