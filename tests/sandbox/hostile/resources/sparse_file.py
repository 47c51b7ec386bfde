# what: makes a file of a terabyte that holds nothing
# problem: double
# verdict: runtime_error
import os


def double(x):
    handle = os.open("/tmp/sparse", os.O_CREAT | os.O_RDWR)
    os.ftruncate(handle, 1 << 40)
    raise RuntimeError("the file was made")
