# what: kills its process group
# problem: double
# verdict: runtime_error
import os


def double(x):
    os.killpg(0, 9)
