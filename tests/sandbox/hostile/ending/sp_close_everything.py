# what: closes every descriptor, so that no verdict can be told
# mode: shared
# problem: double
# verdict: runtime_error
import os


def double(x):
    os.closerange(0, 4096)
    return 2 * x
